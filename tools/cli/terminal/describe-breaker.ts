import {
  type BreakerName,
  type BreakerState,
  nextProbeAt,
  phaseOf,
} from '../../../lib/breaker/breaker-state.ts';
import { formatSeconds } from './format-seconds.ts';

const ago = (since: number, now: Date): string => formatSeconds((now.getTime() - since) / 1_000);

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

/** What a breaker does now, as one sentence, and as facts for `--json`. */
export const describeBreaker = (
  name: BreakerName,
  state: BreakerState,
  now: Date,
): { readonly isHeld: boolean; readonly line: string; readonly facts: Readonly<Record<string, unknown>> } => {
  const phase = phaseOf(state, now.getTime());
  const facts = { breaker: name, phase };
  const { paused, opened } = state;
  if (paused !== undefined) {
    const since = new Date(paused.since).toISOString();
    const line = `${name} are paused since ${ago(paused.since, now)}: ${paused.reason}`;
    return { isHeld: true, line, facts: { ...facts, since, reason: paused.reason } };
  }
  if (opened === undefined) return { isHeld: false, line: `${name} are not held`, facts };
  const nextAt = nextProbeAt(opened);
  const next = now.getTime() < nextAt ? `in ${formatSeconds((nextAt - now.getTime()) / 1_000)}` : 'now';
  return {
    isHeld: true,
    line: `${name} are held since ${ago(opened.since, now)}, as ${describeCause(opened.cause)}; next probe ${next}`,
    facts: {
      ...facts,
      since: new Date(opened.since).toISOString(),
      nextProbeAt: new Date(nextAt).toISOString(),
      cause: opened.cause,
    },
  };
};
