import { randomOf } from '../../support/random.ts';
import { type Listener, type Ran, runWorld } from '../run-world.ts';
import { randomWalk } from '../scheduler/random-walk.ts';
import type { Departure, Schedule } from '../scheduler/schedule.ts';
import { drawScenario } from '../world/scenarios.ts';
import { listenFor, type Tally, tallyRun } from './tally.ts';

/** Runs the schedule of a seed: a random scenario with random departures. */
export const runSeed = async (
  seed: number,
  listener: Listener,
): Promise<{ readonly ran: Ran; readonly schedule: Schedule; readonly name: string }> => {
  const random = randomOf(seed);
  const name = `seed-${seed}`;
  const scenario = drawScenario(random, randomOf(~seed), name);
  const budget = {
    faults: random.below(7),
    preemptions: random.below(9),
    events: random.below(4),
    departures: 16,
  };
  const schedule: Departure[] = [];
  const often = random.pick([2, 5, 10, 25]);
  const ran = await runWorld(scenario, randomWalk(random, budget, often, schedule), listener);
  return { ran, schedule, name };
};

/** Runs seeds from `first` on, `every` apart, until `goOn` returns false or to the first finding. */
export const searchRandom = async (
  first: number,
  every: number,
  tally: Tally,
  goOn: (done: number) => boolean,
): Promise<void> => {
  const listener = listenFor(tally);
  for (let done = 0; goOn(done); done += 1) {
    const { ran, schedule, name } = await runSeed(first + done * every, listener);
    tallyRun(tally, ran);
    if (ran.violation === undefined) continue;
    tally.findings.push({ scenario: name, schedule, ...ran.violation });
    return;
  }
};
