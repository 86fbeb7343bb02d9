import { type Extraction, hasWebhook, isTerminalStatus } from '../../../lib/extraction/record.ts';
import { failureMeanings } from '../terminal/describe-failure.ts';
import { describeDue } from '../terminal/describe-record.ts';
import { formatSeconds, secondsSince } from '../terminal/format-seconds.ts';
import { shown } from './format-for-page.ts';
import type { Breaker } from './sources/sources.ts';

/** What an open extraction waits for, in a few words. */
const awaited = (record: Extraction): string => {
  if (isTerminalStatus(record.status)) return 'results to be collected';
  switch (record.status) {
    case 'REQUESTED':
      return 'start';
    case 'STARTING':
      return "provider's answer to the start";
    case 'TIMED_OUT':
      return 'late final status';
    default:
      return hasWebhook(record) ? 'webhook, or a poll' : 'polls';
  }
};

const describeEnd = (record: Extraction): string => {
  const { requestedAt, settledAt, settledBy, reason, collectedAt, collectionError, results } = record;
  const parts = [
    settledBy === undefined ? [] : `by ${settledBy}`,
    settledAt === undefined ? [] : `in ${formatSeconds(secondsSince(requestedAt, new Date(settledAt)))}`,
  ].flat();
  const collection =
    collectionError !== undefined
      ? `not collected: ${collectionError}`
      : collectedAt !== undefined && results !== undefined
        ? `collected, ${results.bytes.toLocaleString('en')} bytes`
        : undefined;
  return [parts.join(' '), reason, ...failureMeanings(record), collection]
    .filter((part) => part !== undefined && part !== '')
    .join(' · ');
};

/** What happens next to an open extraction, or how it ended. `hold` keeps its calls from the provider. */
export const describeNext = (
  record: Extraction,
  { now, sweepEveryMinutes }: { readonly now: Date; readonly sweepEveryMinutes: number },
  hold?: Breaker,
): string => {
  if (record.dueShard === undefined) return shown(describeEnd(record), 300);
  const due = describeDue(record.dueAt, now, sweepEveryMinutes);
  const next = due.startsWith('in ') ? `next reconcile ${due}` : `${due}: the next sweep queues it`;
  if (hold === undefined) return `${awaited(record)} · ${next}`;
  const held = `held: ${hold.name} are ${hold.state === 'paused' ? 'paused' : 'held'}`;
  return [held, ...(record.status === 'REQUESTED' ? [] : [awaited(record)]), next].join(' · ');
};
