import { randomFor, randomOf } from '../../support/data/random.ts';
import { type Listener, type Ran, runWorld } from '../run-world.ts';
import { randomWalk } from '../scheduler/random-walk.ts';
import type { Departure, Schedule } from '../scheduler/schedule.ts';
import { findScenario } from './find-scenario.ts';
import { listenFor, type Tally, tallyRun } from './tally.ts';

/** Of each seed, half of the kinds of faults never happen, so that none of the others is rare. */
const halfOff = (seed: number) => {
  const drawn = new Map<string, boolean>();
  return (kind: string): boolean => {
    const isOff = drawn.get(kind) ?? randomFor(seed, kind).below(2) === 0;
    drawn.set(kind, isOff);
    return isOff;
  };
};

/** Runs the schedule of a seed: a random scenario with random departures. */
export const runSeed = async (
  seed: number,
  listener: Listener,
  { suffix = '' }: { readonly suffix?: string } = {},
): Promise<{ readonly ran: Ran; readonly schedule: Schedule; readonly name: string }> => {
  const random = randomOf(seed);
  const name = `seed-${seed}${suffix}`;
  const scenario = findScenario(name, random);
  const budget = {
    faults: random.below(10),
    preemptions: random.below(9),
    events: random.below(4),
    departures: 20,
  };
  const schedule: Departure[] = [];
  const often = random.pick([5, 10, 25, 40]);
  const ran = await runWorld(scenario, randomWalk(random, budget, often, schedule, halfOff(seed)), listener);
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
    const seed = first + done * every;
    const { ran, schedule, name } = await runSeed(seed, listener);
    tallyRun(tally, ran);
    if (ran.violation === undefined) continue;
    tally.findings.push({ scenario: name, schedule, ...ran.violation });
    return;
  }
};
