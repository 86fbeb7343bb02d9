import type { Random } from '../../support/data/random.ts';
import { type Budget, spend } from './budget.ts';
import { cost, type OptionList } from './option.ts';
import type { Choose } from './run-schedule.ts';
import type { Departure } from './schedule.ts';

/**
 * Departs at random, within a budget and about `often` times in a hundred steps. The kind is drawn first, so that the many
 * faults do not displace the few events. A kind that `isOff` never happens. `departures` receives every departure.
 */
export const randomWalk = (
  random: Random,
  budget: Budget,
  often: number,
  departures: Departure[],
  isOff: (kind: string) => boolean = () => false,
): Choose => {
  let left = budget;
  return (step: number, options: OptionList): number => {
    if (left.departures === 0 || random.next() * 100 >= often) return 0;
    const kind = random.pick([cost.fault, cost.fault, cost.preemption, cost.preemption, cost.event]);
    const candidates: number[] = [];
    for (let index = 1; index < options.size; index += 1) {
      const price = options.costs[index] ?? 0;
      if ((price & kind) === 0 || spend(left, price) === undefined) continue;
      const fault = options.kind(index);
      if (fault === undefined || !isOff(fault)) candidates.push(index);
    }
    if (candidates.length === 0) return 0;
    const index = random.pick(candidates);
    left = spend(left, options.costs[index] ?? 0) ?? left;
    departures.push({ step, index });
    return index;
  };
};
