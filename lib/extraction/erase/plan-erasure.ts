import type { Change } from '../change.ts';
import { maxDelaySeconds, plusSeconds, secondsSince, type Timings } from '../deadlines.ts';
import { type Phase, phaseOf, timeOr } from '../phase.ts';
import { type Extraction, isUnderstood } from '../record.ts';
import * as transitions from '../transitions.ts';

/** What follows for one record that is to be erased. */
export type ErasurePlan =
  /** There is no record of this request, or no more. */
  | { readonly kind: 'gone' }
  /** It is marked, so that its results are not stored, or nothing runs, so that it is closed at once. */
  | { readonly kind: 'write'; readonly change: Change }
  /** A process, the provider or the queue still works on it. Its outcome has to reach the stream. */
  | { readonly kind: 'open' }
  /** It is closed, and a process that read it while it was open may still write until then. */
  | { readonly kind: 'too-fresh'; readonly until: string }
  | { readonly kind: 'remove' };

/** The latest change of a closed record, as far as its attributes show. A mere close shows only in `expiresAt`. */
const lastChangedAt = (record: Phase, now: string, recordRetention: number): string => {
  const { requestedAt, settledAt, collectedAt, expiresAt } = record;
  const closed =
    expiresAt === undefined ? undefined : plusSeconds(new Date(expiresAt * 1000), -recordRetention);
  // If the retention setting was changed since, the result may be in the future and is not used.
  const closedAt = closed !== undefined && closed <= now ? closed : undefined;
  return [settledAt, collectedAt, closedAt]
    .map((time) => timeOr(time, requestedAt))
    .reduce((latest, time) => (time > latest ? time : latest), requestedAt);
};

/** Clocks may differ by seconds, and the record has the time of its last writer. `Tasks` refuses who is late, the bucket does not. */
const clocksDifferBy = 10;

/** Until when a process that read the record while it was open may write: no function that does runs for longer. */
const lastWriteBy = (record: Phase, now: string, timings: Timings): string =>
  plusSeconds(
    lastChangedAt(record, now, timings.recordRetention),
    Math.max(timings.reconcileTimeout, timings.startTimeout) + clocksDifferBy,
  );

/** Whether results may follow: it is open, or a late answer of the provider can reopen it. */
const mayStillCollect = ({ phase, status }: Phase): boolean =>
  phase !== 'closed' || status === 'TIMED_OUT' || status === 'UNCONFIRMED';

/**
 * Plans the next step by the phase of the record. What is not started never starts, and neither a correction nor results are waited for any
 * longer. All else ends by itself. `requestId`: of the record that the erasure found. A later one under the same id is not touched.
 */
export const planErasure = (
  record: Extraction | undefined,
  requestId: string,
  now: Date,
  timings: Timings,
): ErasurePlan => {
  if (record?.requestId !== requestId) return { kind: 'gone' };
  const decision = { record, now, timings };
  // After a rollback, a newer version may work on it again.
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
 * For how long an extraction is open at most after it was to be erased, in seconds: until its execution ends, then until its results
 * are collected or given up, which are read every hour at last, and then until the next message. Only a pause of reads is longer.
 */
export const maxErasureSeconds = ({ deadline, machineSlack, collectFor }: Timings): number =>
  deadline + machineSlack + collectFor + 3_600 + maxDelaySeconds;

/** The first pause before an open record is read again, in seconds. */
const firstPause = 30;

/** Seconds until an open record is read again: for as long as it has waited, up to what a message can be delayed. */
export const pauseWhileOpen = (askedAt: string, now: Date): number =>
  Math.ceil(Math.min(maxDelaySeconds, Math.max(firstPause, secondsSince(askedAt, now))));
