import { findScenario } from '../campaign/find-scenario.ts';
import { searchBounded } from '../campaign/search-bounded.ts';
import { searchRandom } from '../campaign/search-random.ts';
import { nameOf, showFinding } from '../campaign/show-finding.ts';
import { newTally } from '../campaign/tally.ts';
import { type Budget, upTo } from '../scheduler/budget.ts';
import { parseSchedule } from '../scheduler/schedule.ts';
import { scenarios } from '../world/draw-scenario.ts';
import type { Scenario } from '../world/scenario.ts';
import type { PlantedFault } from './planted-fault.ts';

/** The invariant that caught a fault, and after how many schedules. */
export type Caught = {
  readonly invariant: string | undefined;
  readonly schedules: number;
  /** The first schedule that broke it, as `scenario/step.index`. */
  readonly schedule: string;
  /** The trace of the shortest such schedule. */
  readonly trace: string;
};

/** How many seeds are run if the bounded search finds nothing. */
const maxSeeds = 10_000;

/** Searches for a broken invariant, in the same order each time. */
export const searchWithFault = async ({ where, firstSeed = 1 }: PlantedFault): Promise<Caught> => {
  const tally = newTally();
  const search = async (searched: readonly Scenario[], budget: Budget): Promise<void> => {
    for (const scenario of searched) {
      if (tally.findings.length > 0) return;
      await searchBounded(scenario, budget, tally, () => true);
    }
  };
  if (typeof where === 'object') {
    const { scenario, faults = 0, preemptions = 0, events = 0, from = 0, after = '' } = where;
    const departures = faults + preemptions + events;
    const part = { from, after: parseSchedule(after) };
    await search([findScenario(scenario)], { faults, preemptions, events, departures, ...part });
  } else {
    if (where === undefined) for (const departures of [0, 1]) await search(scenarios, upTo(departures));
    if (tally.findings.length === 0) await searchRandom(firstSeed, 1, tally, (done) => done < maxSeeds);
  }
  const [finding] = tally.findings;
  return {
    invariant: finding?.invariant,
    schedules: tally.schedules,
    schedule: finding === undefined ? '' : nameOf(finding),
    trace: finding === undefined ? '' : await showFinding(finding),
  };
};
