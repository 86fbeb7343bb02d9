/** Lanes of a drawing, in the order in which an extraction goes through them. */
export const lanes = [
  'api',
  'record',
  'machine',
  'start',
  'provider',
  'webhook',
  'queue',
  'operator',
] as const;
export type Lane = (typeof lanes)[number];

export type StoryLine = {
  /** ISO 8601 UTC with milliseconds. */
  readonly at: string;
  /** The end of something that lasts, such as a wait. It may be in the future. */
  readonly until?: string;
  /** The start of a try, which ended at `at`. */
  readonly since?: string;
  /** What the time up to `until`, or after a try up to `nextAt`, is spent on. A hold keeps calls from the provider. */
  readonly does?: 'wait' | 'hold';
  readonly lane: Lane;
  /** What acted: `API`, `start-task`, `Step Functions`, `receive-webhook`, `sweep` and so on. */
  readonly source: string;
  /** One plain sentence of at most `maxText` characters, escaped by `printable`. */
  readonly what: string;
  /** Of something that is retried: 1 for the first try. */
  readonly attempt?: number;
  /** When the next try is made at the latest. Retries have random delays. */
  readonly nextAt?: string;
  readonly verdict?: 'ok' | 'refused' | 'failed';
};

/** Everything that is known about one extraction. It contains no secret, no result and no text of the provider. */
export type Story = {
  readonly extractionId: string;
  /** The status of the record, or `GONE` where there is no record any more, or `UNKNOWN` where it could not be read. */
  readonly status: string;
  /** What the extraction waits for, until when, and what happens then; or why it ended as it did. */
  readonly headline: string;
  /** In order of time. */
  readonly lines: readonly StoryLine[];
  /** What is missing from the story and why, such as a permission. */
  readonly notShown: readonly string[];
};
