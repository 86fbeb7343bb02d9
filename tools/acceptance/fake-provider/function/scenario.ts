import * as v from 'valibot';
import { checkDigitOf } from '../../../../sandbox/consents/national-id.ts';

/**
 * How `npm run accept` requests a behaviour of the fake provider (docs/acceptance.md), which has no state. So each request carries
 * the whole behaviour: a v2 task in the `username` of its credentials, an extraction by consent in the national id of its user.
 */

/** The five final statuses of a v2 task. */
export const outcomes = [
  'COMPLETED',
  'PARTIAL',
  'FAILED',
  'CREDENTIALS_WRONG',
  'CREDENTIALS_LOCKED',
] as const;

export const webhooks = ['plain', 'encrypted', 'lost'] as const;

/**
 * - `accepted`: the start call is answered at once.
 * - `after-webhook`: it is answered after the first delivery, so `endsAfter` has no effect.
 * - `refused`: it is answered 422, and there is no task.
 * - `slow`: it is answered after `slowSeconds`, which the breaker does not count as slow.
 * - `hangs`: there is a task, but the answer takes `hangSeconds`. The caller's timeout must be shorter.
 * - `breaks`: there is a task, but the answer is a 500.
 */
export const starts = ['accepted', 'after-webhook', 'refused', 'slow', 'hangs', 'breaks'] as const;

/** API Gateway ends a call after 30 s, so no answer can take longer. */
export const hangSeconds = 25;

export const slowSeconds = 3;

/** A queue of SQS delays a message by 15 minutes at most. */
export const maxTaskSeconds = 900;

/** Lambda answers with 6 MB at most. The rest is for the other fields of the results. */
export const largestResultBytes = 5_000_000;

const wholeNumber = (most: number) =>
  v.pipe(v.string(), v.regex(/^\d{1,15}$/), v.transform(Number), v.maxValue(most));

const schema = v.strictObject({
  outcome: v.optional(v.picklist(outcomes), 'COMPLETED'),
  /** Seconds from the start call to the end of the task. */
  endsAfter: v.optional(v.union([v.literal('never'), wholeNumber(maxTaskSeconds)]), '0'),
  webhook: v.optional(v.picklist(webhooks), 'plain'),
  start: v.optional(v.picklist(starts), 'accepted'),
  /** Until then the start call is answered 429, in seconds since 1970. 0 is never. */
  busyUntil: v.optional(wholeNumber(Number.MAX_SAFE_INTEGER), '0'),
  /** The least size of the results. 0 adds nothing. */
  resultBytes: v.optional(wholeNumber(largestResultBytes), '0'),
});

export type Scenario = Readonly<v.InferOutput<typeof schema>>;

/** The task is accepted, ends at once as COMPLETED, and is reported by a plain webhook. */
const plainScenario: Scenario = v.parse(schema, {});

const prefix = 'fake:';

/** Writes a scenario as a username, such as `fake:outcome=PARTIAL&endsAfter=30`. Omits what the plain scenario has. */
export const formatUsername = (scenario: Partial<Scenario>): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(scenario)) {
    if (value !== plainScenario[name as keyof Scenario]) query.set(name, String(value));
  }
  return prefix + query;
};

/** Undoes `formatUsername`. Returns undefined for a text that is no scenario. */
export const parseUsername = (username: unknown): Scenario | undefined => {
  if (typeof username !== 'string' || !username.startsWith(prefix)) return undefined;
  const fields = [...new URLSearchParams(username.slice(prefix.length))];
  if (new Set(fields.map(([name]) => name)).size < fields.length) return undefined;
  const parsed = v.safeParse(schema, Object.fromEntries(fields));
  return parsed.success ? parsed.output : undefined;
};

/** The behaviour of one user, whose extractions are COMPLETED. Every user has exactly one consent. */
type ConsentScenario = {
  /** Seconds from the start call to the end, up to 99. */
  readonly endsAfter: number;
  /**
   * When the user authorizes the consent, in seconds since 1970. Before, it is `IN_PROGRESS` and allows no extraction. The
   * national id holds its last six digits, so it must be within five days of the call.
   */
  readonly authorizedAt: number;
};

const million = 1_000_000;

/** Writes a scenario as a national id: two or three digits for the duration, six for the time. */
export const formatNationalId = ({ endsAfter, authorizedAt }: ConsentScenario): string => {
  const time = String(authorizedAt % million).padStart(6, '0');
  const digits = `${String(endsAfter).padStart(2, '0')}${time}`;
  return `${digits}-${checkDigitOf(digits)}`;
};

/** Undoes `formatNationalId`, with or without dots and hyphen. `now` is in seconds since 1970. */
export const parseNationalId = (nationalId: string, now: number): ConsentScenario | undefined => {
  const [, duration = '', time = '', check] =
    /^(\d{2,3})(\d{6})([\dK])$/.exec(nationalId.replace(/[.-]/g, '').toUpperCase()) ?? [];
  if (check !== checkDigitOf(duration + time)) return undefined;
  return { endsAfter: Number(duration), authorizedAt: nearest(Number(time), now) };
};

/** The time nearest to `now` that ends in these six digits. */
const nearest = (lastSixDigits: number, now: number): number => {
  const time = now - (now % million) + lastSixDigits;
  if (time - now > million / 2) return time - million;
  return now - time > million / 2 ? time + million : time;
};
