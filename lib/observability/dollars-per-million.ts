/** The cost of a million extractions in us-east-1 at list prices: the total of docs/performance.md, "Cost". */
export const dollarsPerMillion = { credentials: 115.29, consent: 158.78 } as const;
