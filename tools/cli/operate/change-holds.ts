import { noTrouble } from '../../../lib/breaker/breaker-state.ts';
import { parseBreakerState } from '../../../lib/breaker/stored-breaker.ts';
import { permitItem } from '../../../lib/rate-limit/permit.ts';
import { noRate, parseRateState, rateItem } from '../../../lib/rate-limit/rate-state.ts';
import {
  type PausableCalls,
  type Pause,
  parsePauses,
  pausesItem,
  type RateByHand,
} from '../../../lib/shared-item/operator-settings.ts';
import { changeItem, type SharedItemStore } from '../../../lib/shared-item/shared-item.ts';
import type { Breakers } from '../aws/stores.ts';

type ChangeDeps = { readonly now: () => Date; readonly newVersion: () => string };

/** Holds calls until they are resumed. Throws the SDK's errors, as `resumeCalls` does. */
export const pauseCalls = async (
  store: SharedItemStore,
  calls: PausableCalls,
  pause: Pause,
  deps: ChangeDeps,
): Promise<void> => {
  const decide = (pauses: object) => ({ ...pauses, [calls]: pause });
  await changeItem(store, pausesItem, decide, { ...deps, parse: parsePauses });
};

/** Ends a pause. That of starts also closes every open breaker, and so replaces an item that is damaged. */
export const resumeCalls = async (breakers: Breakers, calls: PausableCalls, deps: ChangeDeps) => {
  const decide = (pauses: object) => ({ ...pauses, [calls]: undefined });
  await changeItem(breakers, pausesItem, decide, { ...deps, parse: parsePauses });
  if (calls !== 'starts') return;
  for (const name of (await breakers.list()).keys()) {
    // The rate of starts holds none, and what was learnt stays.
    if ([pausesItem, rateItem, permitItem].includes(name)) continue;
    await changeItem(breakers, name, () => ({ ...noTrouble }), { ...deps, parse: parseBreakerState });
  }
};

/** Replaces the setting until it is cleared. What was learnt still limits it. Throws the SDK's errors, as `clearRate` does. */
export const setRate = async (store: SharedItemStore, rate: RateByHand, deps: ChangeDeps): Promise<void> => {
  await changeItem(store, pausesItem, (set) => ({ ...set, rate }), { ...deps, parse: parsePauses });
};

/** Returns to the setting, and forgets what was learnt. The dispatcher keeps its lease. */
export const clearRate = async (store: SharedItemStore, deps: ChangeDeps): Promise<void> => {
  const withoutRate = ({ rate: _, ...set }: { readonly rate?: RateByHand }) => set;
  await changeItem(store, pausesItem, withoutRate, { ...deps, parse: parsePauses });
  await changeItem(store, rateItem, ({ lease }) => ({ ...noRate, ...(lease && { lease }) }), {
    ...deps,
    parse: parseRateState,
  });
};
