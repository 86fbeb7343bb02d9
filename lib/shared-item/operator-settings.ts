import * as v from 'valibot';
import { cachedRead } from '../cached-read.ts';
import { defined } from '../defined.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { type ParseState, readItem, type SharedItemStore } from './shared-item.ts';

/** The calls that an operator can pause: starts of tasks, and reads of them. */
export const pausableCalls = ['starts', 'reads'] as const;

export type PausableCalls = (typeof pausableCalls)[number];

/** Who paused calls, when, and why. `since` is in milliseconds of the epoch. */
export type Pause = { readonly since: number; readonly reason: string; readonly by?: string };

/** The rate that an operator has set, in starts a second. It replaces the setting. */
export type RateByHand = Pause & { readonly perSecond: number };

/** What an operator has set. It lasts until an operator changes it. */
export type Pauses = { readonly [Calls in PausableCalls]?: Pause } & { readonly rate?: RateByHand };

/** The item of the pauses in the table `Breakers`. Items of callers have ARNs as names. */
export const pausesItem = 'operator';

const pauseEntries = {
  since: v.pipe(v.number(), v.finite()),
  reason: v.string(),
  by: v.exactOptional(v.string()),
};
const pause = v.optional(v.object(pauseEntries));
const rate = v.optional(
  v.object({ ...pauseEntries, perSecond: v.pipe(v.number(), v.gtValue(0), v.finite()) }),
);
const pausesSchema = v.object({ starts: pause, reads: pause, rate });
const readableParts = v.object({
  starts: v.fallback(pause, undefined),
  reads: v.fallback(pause, undefined),
  rate: v.fallback(rate, undefined),
});

/** A pause that is damaged, or of a newer version, pauses nothing. A damaged rate limits nothing. */
export const parsePauses: ParseState<Pauses> = (stored) => ({
  state: defined(v.parse(readableParts, Object(stored))),
  isDamaged: !v.is(pausesSchema, Object(stored)),
});

/** How long a process trusts what it read. */
const cacheSeconds = 5;

/** What an operator has set, at most 5 s ago: which calls are paused, and the rate. If it cannot be read, nothing is paused. */
export const operatorSettingsOf = ({
  store,
  now,
  telemetry,
}: Readonly<{ store: Pick<SharedItemStore, 'read'>; now: () => Date; telemetry: Telemetry }>): {
  readonly isPaused: (calls: PausableCalls) => Promise<boolean>;
  readonly ratePerSecond: () => Promise<number | undefined>;
} => {
  const current = cachedRead(cacheSeconds, now, async (): Promise<Pauses> => {
    try {
      const { state, isDamaged } = await readItem(store, pausesItem, parsePauses, now());
      if (isDamaged) telemetry.count('BreakerUnavailable');
      return state;
    } catch (error) {
      telemetry.count('BreakerUnavailable');
      telemetry.failure('The pauses are not available; the call is made.', error);
      return {};
    }
  });
  return {
    isPaused: async (calls) => (await current())[calls] !== undefined,
    ratePerSecond: async () => (await current()).rate?.perSecond,
  };
};
