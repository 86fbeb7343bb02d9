import {
  type BreakerStore,
  changeItem,
  parsePauses,
  pausesItem,
  type RateByHand,
} from '../../../lib/breaker/breaker-store.ts';
import { noRate, parseRateState, rateItem } from '../../../lib/rate-limit/rate-state.ts';

type ChangeDeps = { readonly now: () => Date; readonly newVersion: () => string };

/** Replaces the setting until it is cleared. What was learnt still limits it. Throws the SDK's errors, as `clearRate` does. */
export const setRate = async (store: BreakerStore, rate: RateByHand, deps: ChangeDeps): Promise<void> => {
  await changeItem(store, pausesItem, (set) => ({ ...set, rate }), { ...deps, parse: parsePauses });
};

/** Returns to the setting, and forgets what was learnt. The dispatcher keeps its lease. */
export const clearRate = async (store: BreakerStore, deps: ChangeDeps): Promise<void> => {
  const withoutRate = ({ rate: _, ...set }: { readonly rate?: RateByHand }) => set;
  await changeItem(store, pausesItem, withoutRate, { ...deps, parse: parsePauses });
  await changeItem(store, rateItem, ({ lease }) => ({ ...noRate, ...(lease && { lease }) }), {
    ...deps,
    parse: parseRateState,
  });
};
