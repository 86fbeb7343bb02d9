import * as v from 'valibot';
import { defined } from '../defined.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { type BreakerStore, type ParseState, readItem } from './breaker-store.ts';

/** The calls that an operator can pause: those that start tasks, and those that read them. */
export const pausableCalls = ['starts', 'reads'] as const;

export type PausableCalls = (typeof pausableCalls)[number];

/** Who paused calls, when and why. `since` is in milliseconds of the epoch. */
export type Pause = { readonly since: number; readonly reason: string; readonly by?: string };

/** The operator's pauses. They last until an operator resumes. */
export type Pauses = { readonly [Calls in PausableCalls]?: Pause };

/** The item of the pauses in the table `Breakers`. The names of all others are ARNs. */
export const pausesItem = 'operator';

const pauseSchema = v.optional(
  v.object({ since: v.pipe(v.number(), v.finite()), reason: v.string(), by: v.exactOptional(v.string()) }),
);

/** A damaged pause, or one of a newer version, pauses nothing. */
export const parsePauses: ParseState<Pauses> = (stored) => {
  const [starts, reads] = pausableCalls.map((calls) => v.safeParse(pauseSchema, Object(stored)[calls]));
  return {
    state: defined({
      starts: starts?.success ? starts.output : undefined,
      reads: reads?.success ? reads.output : undefined,
    }),
    isDamaged: starts?.success !== true || reads?.success !== true,
  };
};

/** For how long a process trusts what it read. */
const cacheMs = 5_000;

/** Returns whether an operator paused these calls, at most 5 s ago. If that cannot be read, no call is held. */
export const pausesOf = (
  deps: Readonly<{ store: Pick<BreakerStore, 'read'>; now: () => Date; telemetry: Telemetry }>,
): ((calls: PausableCalls) => Promise<boolean>) => {
  const { store, now, telemetry } = deps;
  let cached: { readonly pauses: Pauses; readonly at: number } | undefined;
  return async (calls) => {
    const time = now();
    if (cached === undefined || time.getTime() - cached.at >= cacheMs) {
      let pauses: Pauses = {};
      try {
        const known = await readItem(store, pausesItem, parsePauses, time);
        pauses = known.state;
        if (known.isDamaged) telemetry.count('BreakerUnavailable');
      } catch (error) {
        telemetry.count('BreakerUnavailable');
        telemetry.failure('The pauses are not available; the call is made.', error);
      }
      cached = { pauses, at: time.getTime() };
    }
    return cached.pauses[calls] !== undefined;
  };
};
