import {
  type BreakerName,
  type BreakerPhase,
  type BreakerState,
  nextProbeAt,
  phaseOf,
} from '../../../lib/breaker/breaker-state.ts';
import { defined } from '../../../lib/defined.ts';
import { formatSeconds, secondsSince } from './format-seconds.ts';

/**
 * What failed at the provider, as a clause: `the provider answers 503`. `cause` is that of `Opened`. What is not known is
 * not said.
 */
export const describeCause = (cause: string | undefined): string => {
  const [, status] = /^http-(\d{3})$/.exec(cause ?? '') ?? [];
  if (status !== undefined) return `the provider answers ${status}`;
  if (cause === 'slow') return 'the provider takes too long to answer';
  return cause === undefined ? 'calls to the provider fail' : `calls to the provider fail with ${cause}`;
};

/** A circuit breaker as it is now. */
export type Breaker = {
  readonly name: BreakerName;
  readonly state: BreakerPhase;
  readonly since?: string;
  /** When the next probe is allowed; absent for a pause, which is not over by itself. */
  readonly until?: string;
  /** Of a pause, as the operator gave it. */
  readonly reason?: string;
  /** Of an open breaker: the last failure, as a status or a code. */
  readonly cause?: string;
};

const isoOf = (time: number | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString();

export const breakerOf = (name: BreakerName, stored: BreakerState, now: Date): Breaker => {
  const { paused, opened } = stored;
  const state = phaseOf(stored, now.getTime());
  const until = paused === undefined ? isoOf(opened && nextProbeAt(opened)) : undefined;
  const since = isoOf((paused ?? opened)?.since);
  return defined({ name, state, since, until, reason: paused?.reason, cause: opened?.cause });
};

/** What a breaker does now, as one sentence, and as facts for `--json`. */
export const describeBreaker = (
  { name, state, since = '', until = '', reason, cause }: Breaker,
  now: Date,
): { readonly isHeld: boolean; readonly line: string; readonly facts: Readonly<Record<string, unknown>> } => {
  const facts = { breaker: name, phase: state };
  if (state === 'closed') return { isHeld: false, line: `${name} are not held`, facts };
  const ago = formatSeconds(secondsSince(since, now));
  if (state === 'paused') {
    const line = `${name} have been paused for ${ago}: ${reason}`;
    return { isHeld: true, line, facts: { ...facts, since, reason } };
  }
  const left = -secondsSince(until, now);
  const next = left > 0 ? `in ${formatSeconds(left)}` : 'now';
  return {
    isHeld: true,
    line: `${name} have been held for ${ago}, as ${describeCause(cause)}; next probe ${next}`,
    facts: { ...facts, since, nextProbeAt: until, cause },
  };
};
