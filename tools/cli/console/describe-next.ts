import { expectedStartAt } from '../../../lib/extraction/api/expected-start.ts';
import { type Extraction, hasWebhook, isTerminalStatus } from '../../../lib/extraction/record.ts';
import type { Trying } from '../explain/execution-progress.ts';
import type { StartRate } from '../terminal/describe-rate.ts';
import { describeStartError, failureMeanings } from '../terminal/extraction-failures.ts';
import { formatSeconds, secondsSince } from '../terminal/format-seconds.ts';
import { describeDue } from '../terminal/operator-view.ts';
import { plural } from '../terminal/plural.ts';
import { shown } from './format-for-page.ts';
import type { Hold } from './sources/sources.ts';

const waits: Readonly<Record<string, string>> = {
  REQUESTED: 'waits to be started',
  STARTING: "waits for the provider's answer to the start",
  TIMED_OUT: 'waits for a late final status',
};

const awaited = (record: Extraction): string => {
  if (isTerminalStatus(record.status)) return 'its results are collected next';
  return waits[record.status] ?? (hasWebhook(record) ? 'waits for the webhook' : 'is polled');
};

const enders = { webhook: 'the webhook', start: 'the start', reconcile: 'a read' } as const;

const describeEnd = (record: Extraction): string => {
  const { settledBy, reason, lastProblem, collectedAt, collectionError, results } = record;
  const by = settledBy === undefined ? undefined : `by ${enders[settledBy]}`;
  const problem = lastProblem === collectionError ? undefined : lastProblem;
  const collection =
    collectionError !== undefined
      ? `not collected: ${collectionError}`
      : collectedAt !== undefined && results !== undefined
        ? 'results collected'
        : undefined;
  return [...failureMeanings(record), reason, problem, by, collection]
    .filter((part) => part !== undefined && part !== '')
    .join(' · ');
};

/** When it is expected to be started. Undefined if it does not wait in line, or there is no rate. */
export const startOfLine = (
  { status, extractionId }: Extraction,
  rate: StartRate | undefined,
  now: Date,
): string | undefined =>
  status === 'REQUESTED' && rate !== undefined ? expectedStartAt(rate, extractionId, now) : undefined;

/** `in line · starts in about 3 min 20 s`. */
export const describeLine = (startAt: string, now: Date): string =>
  `in line · starts in about ${formatSeconds(Math.max(1, -secondsSince(startAt, now)))}`;

/** What the machine does about an open extraction. Undefined if the reconcile queue or the sweep is next. */
const describeTrying = (
  { status }: Extraction,
  { does, tries, error, problem, nextAt }: Trying,
  now: Date,
): string | undefined => {
  const seconds = nextAt === undefined ? undefined : Math.max(0, -secondsSince(nextAt, now));
  const next = seconds === undefined ? '' : ` · next within ${formatSeconds(seconds)}`;
  if (does === 'line') return 'waits in line for the rate of the provider';
  if (status === 'REQUESTED' && error !== undefined) {
    // While a try is under way, the last problem is that of the try before.
    const when = does === 'start' ? `try ${tries}` : `try ${tries} is under way, before`;
    return `waits to be started · ${when}: ${describeStartError({ error, problem })}${does === 'start' ? next : ''}`;
  }
  if (status !== 'RUNNING' || does === 'start') return undefined;
  if (does === 'poll') return `is polled · ${plural(tries, 'poll')}${next}`;
  return seconds === undefined || seconds === 0
    ? undefined
    : `waits for the webhook · is polled in ${formatSeconds(seconds)}`;
};

/**
 * What happens next to an open extraction, or how it ended. `hold` keeps its calls from the provider, `trying` is what the
 * machine does, and `startAt` is when its turn comes in the line of starts.
 */
export const describeNext = (
  record: Extraction,
  { now, sweepEveryMinutes }: { readonly now: Date; readonly sweepEveryMinutes: number },
  {
    hold,
    trying,
    startAt,
  }: {
    readonly hold?: Hold | undefined;
    readonly trying?: Trying | undefined;
    readonly startAt?: string | undefined;
  } = {},
): string => {
  if (record.dueShard === undefined) return shown(describeEnd(record), 300);
  if (hold === undefined && startAt !== undefined) return describeLine(startAt, now);
  const tried = hold === undefined && trying !== undefined ? describeTrying(record, trying, now) : undefined;
  if (tried !== undefined) return shown(tried, 300);
  const due = describeDue(record.dueAt, now, sweepEveryMinutes);
  const isToCome = due.startsWith('in ');
  const next = isToCome ? `next reconcile ${due}` : `the next sweep queues it · ${due}`;
  // A narrow cell ends early, and what is late is why it is read.
  if (hold === undefined) return (isToCome ? [awaited(record), next] : [next, awaited(record)]).join(' · ');
  const turn =
    hold.kind === 'open' && hold.nextTurnAt !== undefined ? -secondsSince(hold.nextTurnAt, now) : 0;
  const held = `${hold.calls} are ${hold.kind === 'paused' ? 'paused' : 'held'}${turn > 0 ? `, next turn in ${formatSeconds(turn)}` : ''}`;
  return [held, ...(record.status === 'REQUESTED' ? [] : [awaited(record)]), next].join(' · ');
};
