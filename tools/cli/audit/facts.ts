import type {
  AuditLimits,
  Extraction,
  Logged,
  RequestItem,
  SourceName,
  StoredBytes,
  TaskFacts,
} from './sources.ts';

/** What rules need of an image of the stream. */
export type Image = Pick<Extraction, 'status' | 'settledAt' | 'taskId' | 'dueShard'>;

/** A change of status in the stream, or the first or last image of a record. */
export type Step = {
  readonly extractionId: string;
  readonly at: string;
  readonly before?: Image;
  readonly after?: Image;
};

/** All that was read. Rules are pure functions of it. */
export type Facts = {
  readonly now: Date;
  readonly since: Date;
  readonly limits: AuditLimits;
  /** The requests to audit: all of the period, or those that were drawn. */
  readonly requested: readonly Logged[];
  readonly accepted: readonly Logged[];
  readonly steps: readonly Step[];
  readonly items: readonly RequestItem[];
  /** Those of the requests, of the index `due` and of the items of `Requests`. */
  readonly records: ReadonlyMap<string, Extraction>;
  readonly tasks: ReadonlyMap<string, TaskFacts>;
  /** By `extractionId`. Undefined: the object is gone. Absent: it was not read. */
  readonly stored: ReadonlyMap<string, StoredBytes | undefined>;
  /** Records that another version of Cosecha has written. No rule is about them. */
  readonly unknown: ReadonlySet<string>;
};

export type Finding = { readonly extractionId: string; readonly what: string };

/** `notChecked`: what the rule is about and nothing could show. */
export type Checked = {
  readonly checked: number;
  readonly findings: readonly Finding[];
  readonly notChecked?: string | undefined;
};

/** One sentence that holds for every deployment, and the function that finds what contradicts it. */
export type Rule = {
  /** The same in every version, for scripts that read `audit --json`. */
  readonly id: string;
  readonly sentence: string;
  readonly needs: readonly SourceName[];
  readonly check: (facts: Facts) => Checked;
};

/** What `judge` finds, or that a time is damaged, which would otherwise end the audit. */
const judged = (judge: () => string | undefined): string | undefined => {
  try {
    return judge();
  } catch (error) {
    if (error instanceof RangeError) return 'A time in it is damaged.';
    throw error;
  }
};

/** What `judge` finds wrong with each of `all`. It returns undefined for what is right. */
export const checkEach = <One extends { readonly extractionId: string }>(
  all: Iterable<One>,
  judge: (one: One) => string | undefined,
  notChecked?: string,
): Checked => {
  const checked = [...all];
  const findings = checked.flatMap((one) => {
    const what = judged(() => judge(one));
    return what === undefined ? [] : [{ extractionId: one.extractionId, what }];
  });
  return { checked: checked.length, findings, notChecked };
};

/** Throws a RangeError if one of them is not a time. */
export const secondsBetween = (earlier: string, later: string): number =>
  (Date.parse(new Date(later).toISOString()) - Date.parse(new Date(earlier).toISOString())) / 1_000;

/** Whether more than so many seconds have passed since a time. Throws as `secondsBetween`. */
export const isPast = ({ now }: Pick<Facts, 'now'>, time: string, seconds: number): boolean =>
  secondsBetween(time, now.toISOString()) > seconds;

/** As docs/stream.md and docs/design.md have them, and not as the code does. */
export const providerStatuses: ReadonlySet<string> = new Set([
  'COMPLETED',
  'PARTIAL',
  'FAILED',
  'CREDENTIALS_WRONG',
  'CREDENTIALS_LOCKED',
]);

/** The outcomes with which nothing is left to do. */
export const endsAtOnce: ReadonlySet<string> = new Set(['REJECTED', 'NOT_STARTED', 'UNCONFIRMED']);

export const isOutcome = (status: string): boolean =>
  providerStatuses.has(status) || endsAtOnce.has(status) || status === 'TIMED_OUT';
