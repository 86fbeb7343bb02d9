import type { Change } from '../change.ts';
import { maxDelaySeconds, plusSeconds, secondsSince, type Timings } from '../deadlines.ts';
import { type Phase, phaseOf, timeOr } from '../phase.ts';
import { type Extraction, isUnderstood } from '../record.ts';
import * as transitions from '../transitions.ts';

export type ErasurePlan =
  /** This request has no record, or no longer has one. */
  | { readonly kind: 'gone' }
  /** A change: the mark that keeps results from being stored, or a close, because nothing runs. */
  | { readonly kind: 'write'; readonly change: Change }
  /** A process, the provider or the queue still works on it. Its outcome must reach the stream first. */
  | { readonly kind: 'open' }
  /** It is closed. Until `until`, a process that read it while it was open may still write. */
  | { readonly kind: 'too-fresh'; readonly until: string }
  | { readonly kind: 'remove' };

/** When a closed record last changed, as far as its attributes show. A plain close shows only in `expiresAt`. */
const lastChangedAt = (record: Phase, now: string, recordRetention: number): string => {
  const { requestedAt, settledAt, collectedAt, expiresAt } = record;
  const closed =
    expiresAt === undefined ? undefined : plusSeconds(new Date(expiresAt * 1000), -recordRetention);
  // If the retention setting has changed since, this time may be in the future. It is then not used.
  const closedAt = closed !== undefined && closed <= now ? closed : undefined;
  return [settledAt, collectedAt, closedAt]
    .map((time) => timeOr(time, requestedAt))
    .reduce((latest, time) => (time > latest ? time : latest), requestedAt);
};

/** Clocks may differ by seconds, and the record has the time of its last writer. `Tasks` refuses a late write, and the bucket does not. */
const clocksDifferBy = 10;

/** The last time at which a process that read the record while it was open may write. Each function that does so ends by then. */
const lastWriteBy = (record: Phase, now: string, timings: Timings): string =>
  plusSeconds(
    lastChangedAt(record, now, timings.recordRetention),
    Math.max(timings.reconcileTimeout, timings.startTimeout) + clocksDifferBy,
  );

/** Whether results may still follow: it is open, or a late answer of the provider can reopen it. */
const mayStillCollect = ({ phase, status }: Phase): boolean =>
  phase !== 'closed' || status === 'TIMED_OUT' || status === 'UNCONFIRMED';

/**
 * Plans the next step by the phase of the record. An extraction that is not started is never started. A correction or results are no longer
 * waited for. Everything else ends by itself. `requestId` is from the record that the erasure found. A later record under the same id is
 * not touched.
 */
export const planErasure = (
  record: Extraction | undefined,
  requestId: string,
  now: Date,
  timings: Timings,
): ErasurePlan => {
  if (record?.requestId !== requestId) return { kind: 'gone' };
  const decision = { record, now, timings };
  // After a rollback, the newer version may be deployed again and work on it.
  if (!isUnderstood(record) && record.dueShard !== undefined) return { kind: 'open' };
  const inPhase = phaseOf(record);
  const { phase } = inPhase;
  if (phase === 'requested') {
    return {
      kind: 'write',
      change: transitions.markNotStarted({ ...decision, reason: 'erased', lastProblem: 'erased' }),
    };
  }
  if (record.erasingAt === undefined && mayStillCollect(inPhase)) {
    return { kind: 'write', change: transitions.markErasing(decision) };
  }
  if (phase === 'grace') return { kind: 'write', change: transitions.closeAfterGrace(decision) };
  if (phase === 'collecting') {
    const change = transitions.closeUncollected({ ...decision, collectionError: 'erased' });
    return { kind: 'write', change };
  }
  if (phase !== 'closed') return { kind: 'open' };
  if (record.erasingAt !== undefined && record.advice !== 'none') {
    return { kind: 'write', change: transitions.adviseErasing(decision) };
  }
  const until = lastWriteBy(inPhase, now.toISOString(), timings);
  return now.toISOString() < until ? { kind: 'too-fresh', until } : { kind: 'remove' };
};

/**
 * The longest time, in seconds, that an extraction stays open after its erasure was requested: until its execution ends, until its results
 * are collected or abandoned (read once an hour at the end), and until the next message. Only a pause of reads is longer.
 */
export const maxErasureSeconds = ({ deadline, machineSlack, collectFor }: Timings): number =>
  deadline + machineSlack + collectFor + 3_600 + maxDelaySeconds;

/** The first pause before an open record is read again, in seconds. */
const firstPause = 30;

/** Seconds until an open record is read again: as long as it has waited, up to the longest delay of a message. */
export const pauseWhileOpen = (askedAt: string, now: Date): number =>
  Math.ceil(Math.min(maxDelaySeconds, Math.max(firstPause, secondsSince(askedAt, now))));
