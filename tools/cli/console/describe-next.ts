import { type Extraction, hasWebhook, isTerminalStatus } from '../../../lib/extraction/record.ts';
import { failureMeanings } from '../terminal/describe-failure.ts';
import { describeDue } from '../terminal/describe-record.ts';
import { formatSeconds, secondsSince } from '../terminal/format-seconds.ts';
import { shown } from './format-for-page.ts';
import type { Hold } from './sources/sources.ts';

const waits: Readonly<Record<string, string>> = {
  REQUESTED: 'waits to be started',
  STARTING: "waits for the provider's answer to the start",
  TIMED_OUT: 'waits for a late final status',
};

/** What an open extraction waits for, in a few words. */
const awaited = (record: Extraction): string => {
  if (isTerminalStatus(record.status)) return 'its results are collected next';
  return waits[record.status] ?? (hasWebhook(record) ? 'waits for the webhook' : 'is polled');
};

const enders = { webhook: 'the webhook', start: 'the start', reconcile: 'a read' } as const;

const describeEnd = (record: Extraction): string => {
  const { requestedAt, settledAt, settledBy, reason, collectedAt, collectionError, results } = record;
  const parts = [
    settledBy === undefined ? [] : `by ${enders[settledBy]}`,
    settledAt === undefined ? [] : `after ${formatSeconds(secondsSince(requestedAt, new Date(settledAt)))}`,
  ].flat();
  const collection =
    collectionError !== undefined
      ? `not collected: ${collectionError}`
      : collectedAt !== undefined && results !== undefined
        ? 'results collected'
        : undefined;
  return [parts.join(' '), reason, ...failureMeanings(record), collection]
    .filter((part) => part !== undefined && part !== '')
    .join(' · ');
};

/** What happens next to an open extraction, or how it ended. `hold` keeps its calls from the provider. */
export const describeNext = (
  record: Extraction,
  { now, sweepEveryMinutes }: { readonly now: Date; readonly sweepEveryMinutes: number },
  hold?: Hold,
): string => {
  if (record.dueShard === undefined) return shown(describeEnd(record), 300);
  const due = describeDue(record.dueAt, now, sweepEveryMinutes);
  const next = due.startsWith('in ') ? `next reconcile ${due}` : `${due}: the next sweep queues it`;
  if (hold === undefined) return `${awaited(record)} · ${next}`;
  const held = `${hold.calls} are ${hold.kind === 'paused' ? 'paused' : 'held'}`;
  return [held, ...(record.status === 'REQUESTED' ? [] : [awaited(record)]), next].join(' · ');
};
