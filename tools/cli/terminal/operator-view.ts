import { isOverdue } from '../../../lib/extraction/deadlines.ts';
import type { Extraction } from '../../../lib/extraction/record.ts';
import { failurePhrases } from './extraction-failures.ts';
import { formatSeconds, secondsSince } from './format-seconds.ts';

/** DynamoDB returns attributes in any order. This one is identity, request, start, outcome, results, and internal. */
const order: readonly string[] = [
  ['schemaVersion', 'extractionId', 'status', 'reason'],
  ['method', 'entity', 'actions', 'product', 'consentId', 'variant', 'reference', 'batch', 'priority'],
  ['requestedBy', 'requestedAt', 'deadlineAt'],
  ['startingAt', 'attemptId', 'startedAt', 'taskId'],
  ['settledAt', 'settledBy', 'isFinal', 'actionResults'],
  ['collectedAt', 'collectionError', 'results'],
  ['requestId', 'oversizedAt', 'dueShard', 'dueAt', 'expiresAt'],
].flat();

/** DynamoDB's TTL has seconds of the epoch. One that is no time is shown as it is. */
const timeOfSeconds = (seconds: number): string | number => {
  const time = new Date(seconds * 1_000);
  return Number.isNaN(time.getTime()) ? seconds : time.toISOString();
};

/** A record as an operator sees it: with every time as a time, and without the fingerprint, from which nothing can be read. */
export const operatorView = (record: Extraction): Record<string, unknown> => {
  const { fingerprint: _fingerprint, expiresAt, ...others } = record;
  const view = { ...others, ...(expiresAt === undefined ? {} : { expiresAt: timeOfSeconds(expiresAt) }) };
  // Attributes of a later version come last.
  const rank = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);
  return Object.fromEntries(Object.entries(view).toSorted(([one], [other]) => rank(one) - rank(other)));
};

export const describeView = (view: Readonly<Record<string, unknown>>): readonly string[] => {
  const width = Math.max(...Object.keys(view).map((name) => name.length));
  return Object.entries(view).map(
    ([name, value]) => `${name.padEnd(width)}  ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
};

/** The name of a role or user, from its ARN: `billing` of `arn:aws:sts::111122223333:assumed-role/billing`. */
export const callerName = (arn: string): string => /[^:/]*$/.exec(arn)?.[0] ?? arn;

const describeCollection = ({ collectedAt, collectionError }: Extraction): string => {
  if (collectedAt !== undefined) return ', collected';
  return collectionError === undefined ? '' : `, not collected: ${collectionError}`;
};

/** Status, reason or failed actions, collection and close in one phrase, such as `COMPLETED (settled by webhook), collected`. */
export const describeProgress = (record: Extraction): string => {
  const { status, reason, settledBy, dueShard } = record;
  const details = [
    reason,
    ...failurePhrases(record),
    settledBy === undefined ? undefined : `settled by ${settledBy}`,
  ].filter((detail) => detail !== undefined);
  const parentheses = details.length === 0 ? '' : ` (${details.join(', ')})`;
  return `${status}${parentheses}${describeCollection(record)}${dueShard === undefined ? ', closed' : ''}`;
};

/** When an open record is due, for how long it has been due, or by how much it is overdue. */
export const describeDue = (dueAt: string | undefined, now: Date, sweepEveryMinutes: number): string => {
  if (dueAt === undefined) return '';
  const late = secondsSince(dueAt, now);
  if (late <= 0) return `in ${formatSeconds(-late)}`;
  return isOverdue({ dueAt }, now, sweepEveryMinutes)
    ? `OVERDUE by ${formatSeconds(late)}`
    : `due for ${formatSeconds(late)}`;
};
