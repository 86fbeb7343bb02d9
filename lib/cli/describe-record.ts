import type { Extraction } from '../extraction/record.ts';
import { formatSeconds, secondsSince } from './format-seconds.ts';

/** What it is, how far it has come, how it ended, and the service's own: DynamoDB gives attributes in any order. */
const inOrder: readonly string[] = [
  ...['schemaVersion', 'extractionId', 'status', 'reason', 'method', 'entity', 'actions'],
  ...['product', 'consentId', 'variant', 'reference', 'requestedBy', 'requestedAt', 'deadlineAt'],
  ...['startingAt', 'attemptId', 'startedAt', 'taskId', 'settledAt', 'settledBy', 'actionResults'],
  ...['collectedAt', 'collectionError', 'results', 'requestId'],
  ...['oversizedAt', 'dueShard', 'dueAt', 'expiresAt'],
];

/** A record as an operator sees it: all of it but the fingerprint, which is of no use to anybody. */
export const operatorView = (record: Extraction): Record<string, unknown> => {
  const { fingerprint: _fingerprint, ...view } = record;
  // Attributes of a later version come last.
  const rank = (name: string): number => (inOrder.includes(name) ? inOrder.indexOf(name) : inOrder.length);
  return Object.fromEntries(Object.entries(view).toSorted(([one], [other]) => rank(one) - rank(other)));
};

/** One attribute to a line, for people. */
export const describeView = (view: Readonly<Record<string, unknown>>): readonly string[] => {
  const width = Math.max(...Object.keys(view).map((name) => name.length));
  return Object.entries(view).map(
    ([name, value]) => `${name.padEnd(width)}  ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
};

/** `COMPLETED (settled by webhook), collected`: how far it has come. */
export const describeProgress = (record: Extraction): string => {
  const { status, reason, settledBy, collectedAt, collectionError, dueShard } = record;
  const why = [
    ...(reason === undefined ? [] : [reason]),
    ...(settledBy === undefined ? [] : [`settled by ${settledBy}`]),
  ];
  const results =
    collectedAt !== undefined
      ? ', collected'
      : collectionError === undefined
        ? ''
        : `, not collected: ${collectionError}`;
  return `${status}${why.length === 0 ? '' : ` (${why.join(', ')})`}${results}${dueShard === undefined ? ', closed' : ''}`;
};

/** How late an open record is, or when it is looked at. */
export const describeDue = (dueAt: string | undefined, now: Date): string => {
  if (dueAt === undefined) return '';
  const late = secondsSince(dueAt, now);
  return late > 0 ? `OVERDUE by ${formatSeconds(late)}` : `in ${formatSeconds(-late)}`;
};
