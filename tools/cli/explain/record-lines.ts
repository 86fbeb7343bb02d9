import { defined } from '../../../lib/defined.ts';
import { judgeOutcome, outcomeText } from '../../../lib/extraction/advice.ts';
import { plusSeconds } from '../../../lib/extraction/deadlines.ts';
import { type Extraction, isTerminalStatus } from '../../../lib/extraction/record.ts';
import { bounded } from './bounded-text.ts';
import type { Known } from './gather.ts';
import type { StoryLine } from './story.ts';

const requestOf = (record: Extraction): string =>
  record.method === 'consent'
    ? `${record.product} under consent ${record.consentId}`
    : `${record.actions.map(({ id }) => id).join(', ')} at ${record.entity}`;

const settlers = { webhook: 'receive-webhook', start: 'start-task', reconcile: 'reconcile' } as const;

/** What its user or caller can mend was refused, and did not fail. */
const verdicts = { well: 'ok', user: 'refused', caller: 'refused', failed: 'failed' } as const;

const settledLine = (record: Extraction): StoryLine[] => {
  const { status, reason, settledAt, settledBy, deadlineAt } = record;
  if (settledAt === undefined || settledBy === undefined) return [];
  const late = isTerminalStatus(status) && settledAt > deadlineAt ? ', after the deadline' : '';
  return [
    {
      at: settledAt,
      lane: settledBy === 'webhook' ? 'webhook' : settledBy === 'start' ? 'start' : 'record',
      source: settlers[settledBy],
      what: bounded(`Wrote ${status}${reason === undefined ? '' : ` (${reason})`}${late}.`),
      verdict: verdicts[judgeOutcome(outcomeText(record))],
    },
  ];
};

const linesOfRecord = (record: Extraction): readonly StoryLine[] => {
  const {
    requestedAt,
    requestedBy,
    reference,
    batch,
    traceparent,
    startingAt,
    startedAt,
    taskId = '',
  } = record;
  const { collectedAt, results, oversizedAt } = record;
  // First, as the rest may be cut.
  const traced = traceparent === undefined ? '' : `In trace ${traceparent.split('-')[1]}, `;
  const named = reference === undefined ? '' : `, as "${reference}"`;
  const inBatch = batch === undefined ? '' : `, in the batch "${batch}"`;
  const line = (at: string | undefined, rest: Omit<StoryLine, 'at'>): StoryLine[] =>
    at === undefined ? [] : [{ at, ...rest }];
  const byStart = { lane: 'start', source: 'start-task' } as const;
  return [
    ...line(requestedAt, {
      lane: 'api',
      source: 'API',
      what: bounded(`${traced}${requestedBy} requested ${requestOf(record)}${named}${inBatch}.`),
    }),
    ...line(startingAt, { ...byStart, what: 'Wrote STARTING, and sends the start call.' }),
    ...line(startedAt, {
      ...byStart,
      what: bounded(`Wrote RUNNING: the provider accepted the start as task ${taskId}.`),
      verdict: 'ok',
    }),
    ...settledLine(record),
    ...line(oversizedAt, {
      lane: 'provider',
      source: 'reconcile',
      what: 'Read an answer over resultsMaxBytes, and discarded it.',
      verdict: 'failed',
    }),
    ...line(collectedAt, {
      lane: 'record',
      source: 'reconcile',
      what:
        results === undefined
          ? 'Closed the record: there are no results.'
          : `Stored the results, ${results.bytes} bytes, and closed the record.`,
      verdict: 'ok',
    }),
  ];
};

/** When a record was closed without results, which shows only in `expiresAt`, to the second. */
const closedLine = ({ record, settings }: Known): StoryLine[] => {
  if (record?.expiresAt === undefined || record.collectedAt !== undefined || settings === undefined)
    return [];
  const at = plusSeconds(new Date(record.expiresAt * 1000), -settings.timings.recordRetention);
  const { collectionError } = record;
  // The outcomes that close at once have a line of their own with this time.
  if (collectionError === undefined && record.status !== 'TIMED_OUT') return [];
  const what =
    collectionError === undefined
      ? 'Closed the record: no correction came.'
      : `Closed the record: ${collectionError}.`;
  return [{ at, lane: 'record', source: 'reconcile', what: bounded(what) }];
};

const deadlineLine = ({ record }: Known): StoryLine[] => {
  if (record?.status !== 'RUNNING') return [];
  const what = 'Ends it TIMED_OUT, if there is no final status by then.';
  return [{ at: record.deadlineAt, lane: 'record', source: 'reconcile', what }];
};

const dueLine = ({ record, now }: Known): StoryLine[] => {
  if (record?.dueAt === undefined) return [];
  const what =
    record.dueAt > now.toISOString()
      ? 'Queues it after this time, unless it is reconciled before.'
      : 'Should have queued it by its next run.';
  return [{ at: record.dueAt, lane: 'record', source: 'sweep', what }];
};

export const recordLines = (known: Known): readonly StoryLine[] =>
  [
    ...(known.record === undefined ? [] : linesOfRecord(known.record)),
    ...closedLine(known),
    ...deadlineLine(known),
    ...dueLine(known),
  ].map((line) => defined(line) as StoryLine);
