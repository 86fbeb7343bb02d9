/**
 * Limits a sweep to the records of the test that invoked it. Otherwise a sweep leases whatever is due, and if a fault
 * kills it, the records of other tests stay leased for minutes. The test lists its records in the event as `only`. The
 * function ignores its event, and finds no other records in the index.
 */
export const sweepScope = (event: unknown): readonly string[] | undefined =>
  (event as { readonly only?: readonly string[] } | undefined)?.only;

type QueryAnswer = { readonly Items?: readonly { readonly extractionId?: { readonly S?: string } }[] };

/** DynamoDB's answer to the sweep's query, without the records of other tests. */
export const inScope = (answer: string, only: readonly string[]): string => {
  const found = JSON.parse(answer) as QueryAnswer;
  if (found.Items === undefined) return answer;
  const Items = found.Items.filter(({ extractionId }) => only.includes(extractionId?.S ?? ''));
  return JSON.stringify({ ...found, Items, Count: Items.length });
};
