import { type BreakerName, breakerNames } from '../../../lib/breaker/breaker-state.ts';
import { type BreakerStore, readBreaker } from '../../../lib/breaker/breaker-store.ts';
import { describeBreaker } from '../terminal/describe-breaker.ts';
import { type Finding, failed, passed } from './finding.ts';

/** Fails where calls to the provider are held: a breaker is open, or an operator paused it. */
export const checkBreakers = async (store: Pick<BreakerStore, 'read'>, now: Date): Promise<Finding> => {
  const described = await Promise.all(
    breakerNames.map(async (name: BreakerName) =>
      describeBreaker(name, (await readBreaker(store, name, now)).state, now),
    ),
  );
  const held = described.filter(({ isHeld }) => isHeld);
  if (held.length === 0) return passed('neither starts nor reads are held');
  return failed(
    held.map(({ line }) => line).join('; '),
    'Held calls go on by themselves when a probe succeeds. `cosecha resume` ends a pause.',
  );
};
