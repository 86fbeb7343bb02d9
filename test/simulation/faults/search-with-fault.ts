import { findScenario } from '../campaign/find-scenario.ts';
import { searchBounded, upTo } from '../campaign/search-bounded.ts';
import { searchRandom } from '../campaign/search-random.ts';
import { showFinding } from '../campaign/show-finding.ts';
import { newTally } from '../campaign/tally.ts';
import { scenarios } from '../world/scenarios.ts';
import type { DeliberateFault } from './deliberate-fault.ts';

/** What was found of a fault, and after how many schedules. */
export type Caught = {
  readonly invariant: string | undefined;
  readonly schedules: number;
  /** The shortest schedule that shows it, as a trace. */
  readonly trace: string;
};

/** Seeds that are run where the bounded search finds nothing. */
const mostSeeds = 30_000;

/** Looks for a broken invariant, in the same order each time: no departure, one, two where told, then seeds. */
export const searchWithFault = async ({ pairsOf = [] }: DeliberateFault): Promise<Caught> => {
  const tally = newTally();
  const found = (): boolean => tally.findings.length > 0;
  for (const departures of [0, 1]) {
    for (const scenario of scenarios) {
      if (!found()) await searchBounded(scenario, upTo(departures), tally, () => true);
    }
  }
  for (const name of pairsOf) {
    if (!found()) await searchBounded(findScenario(name), upTo(2), tally, () => true);
  }
  if (!found()) await searchRandom(1, 1, tally, (done) => done < mostSeeds);
  const [finding] = tally.findings;
  return {
    invariant: finding?.invariant,
    schedules: tally.schedules,
    trace: finding === undefined ? '' : await showFinding(finding),
  };
};
