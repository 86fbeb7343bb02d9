import { runWorld } from '../run-world.ts';
import type { Budget } from '../scheduler/budget.ts';
import { explore } from '../scheduler/explore.ts';
import type { Scenario } from '../world/scenario.ts';
import { listenFor, type Tally, tallyRun } from './tally.ts';

/**
 * Runs every schedule of a scenario within the budget. Stops at the first finding, or when `goOn` returns false. Returns
 * whether it ran all.
 */
export const searchBounded = (
  scenario: Scenario,
  budget: Budget,
  tally: Tally,
  goOn: () => boolean,
): Promise<boolean> => {
  const listener = listenFor(tally);
  return explore(budget, async (schedule, choose) => {
    const ran = await runWorld(scenario, choose, listener);
    tallyRun(tally, ran);
    if (ran.violation === undefined) return goOn() ? 'go on' : 'stop';
    tally.findings.push({ scenario: scenario.name, schedule, ...ran.violation });
    return 'stop';
  });
};
