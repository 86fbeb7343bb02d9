import { upTo } from '../scheduler/budget.ts';
import { scenarios } from '../world/draw-scenario.ts';
import { searchBounded } from './search-bounded.ts';
import { searchRandom } from './search-random.ts';
import { newTally, type Tally } from './tally.ts';

/** One worker's share of a campaign. */
export type Share = {
  readonly worker: number;
  readonly workers: number;
  readonly seed: number;
  /** Whether the schedules with one and with two departures are run. */
  readonly isBounded: boolean;
  /** The scenarios of which schedules with two departures are run while there is time. One departure is run of all. */
  readonly pairsOf: readonly string[];
  /** Milliseconds for the bounded search with two departures. */
  readonly pairsMs: number;
  /** How many seeds to run, and for how many milliseconds at most. */
  readonly seeds: number;
  readonly seedsMs: number;
};

export type Progress = { readonly done: string; readonly schedules: number };

const campaignBounded = async (share: Share, tally: Tally, reportDone: (done: string) => void) => {
  const ofWorker = scenarios.filter((_scenario, index) => index % share.workers === share.worker);
  for (const scenario of ofWorker) {
    await searchBounded(scenario, upTo(1), tally, () => true);
    if (tally.findings.length > 0) return;
  }
  reportDone(`every schedule with one departure, of ${ofWorker.length} scenarios`);

  const pairsEnd = performance.now() + share.pairsMs;
  for (const scenario of ofWorker.filter(({ name }) => share.pairsOf.includes(name))) {
    const inTime = (): boolean => performance.now() < pairsEnd;
    if (!inTime()) break;
    const all = await searchBounded(scenario, upTo(2), tally, inTime);
    if (tally.findings.length > 0) return;
    reportDone(`${all ? 'every schedule' : 'some schedules'} with two departures, of ${scenario.name}`);
  }
};

/** Runs every schedule with one departure, then with two, then random ones. Ends at the first finding. */
export const runShare = async (share: Share, report: (progress: Progress) => void): Promise<Tally> => {
  const tally = newTally();
  const reportDone = (done: string): void => report({ done, schedules: tally.schedules });

  if (share.isBounded) {
    await campaignBounded(share, tally, reportDone);
    if (tally.findings.length > 0) return tally;
  }
  const seedsEnd = performance.now() + share.seedsMs;
  await searchRandom(
    share.seed + share.worker,
    share.workers,
    tally,
    (done) => done * share.workers < share.seeds && performance.now() < seedsEnd,
  );
  reportDone('random schedules');
  return tally;
};
