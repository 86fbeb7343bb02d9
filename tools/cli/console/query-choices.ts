/** The choice that a query names, or the default for anything else. */
export const choiceIn = <Choice extends string>(
  text: string | null,
  choices: readonly Choice[],
  otherwise: Choice,
): Choice => choices.find((one) => one === text) ?? otherwise;

const hoursOf = { '1h': 1, '6h': 6, '24h': 24 } as const;

/** How far back a page goes. */
export type Since = keyof typeof hoursOf;
export const sinceChoices = Object.keys(hoursOf) as readonly Since[];

export const sinceIn = (query: URLSearchParams): Since => choiceIn(query.get('since'), sinceChoices, '1h');

export const startOf = (since: Since, now: Date): Date =>
  new Date(now.getTime() - hoursOf[since] * 3_600_000);

/** `1 h`, as in a sentence. */
export const hoursText = (since: Since): string => `${hoursOf[since]} h`;
