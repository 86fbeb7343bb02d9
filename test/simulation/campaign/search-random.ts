import { defined } from '../../../lib/defined.ts';
import { randomFor, randomOf } from '../../support/data/random.ts';
import { type Listener, type Ran, runWorld } from '../run-world.ts';
import { randomWalk } from '../scheduler/random-walk.ts';
import type { Departure, Schedule } from '../scheduler/schedule.ts';
import { digesting, runsAgain } from './digest.ts';
import { findScenario } from './find-scenario.ts';
import { listenFor, newTally, type Tally, tallyRun } from './tally.ts';

type IsOff = (kind: string) => boolean;

/** Of each seed, half of the kinds of faults never happen, so that none of the others is rare. */
const halfOff = (seed: number): IsOff => {
  const drawn = new Map<string, boolean>();
  return (kind) => {
    const isOff = drawn.get(kind) ?? randomFor(seed, kind).below(2) === 0;
    drawn.set(kind, isOff);
    return isOff;
  };
};

/** Runs the schedule of a seed: a random scenario with random departures. */
export const runSeed = async (
  seed: number,
  listener: Listener,
  { isOff = halfOff(seed), suffix = '' }: { readonly isOff?: IsOff; readonly suffix?: string } = {},
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
  const ran = await runWorld(scenario, randomWalk(random, budget, often, schedule, isOff), listener);
  return { ran, schedule, name };
};

/** Runs seeds from `first` on, `every` apart, until `goOn` returns false or to the first finding. */
export const searchRandom = async (
  first: number,
  every: number,
  tally: Tally,
  goOn: (done: number) => boolean,
  isOff?: IsOff,
): Promise<void> => {
  const listener = listenFor(tally);
  for (let done = 0; goOn(done); done += 1) {
    const seed = first + done * every;
    const digested = isOff === undefined && runsAgain(seed) ? digesting() : undefined;
    const heard = { ...listener, ...digested?.listener };
    const { ran, schedule, name } = await runSeed(seed, heard, defined({ isOff }));
    tallyRun(tally, ran);
    if (digested !== undefined) tally.digests[name] = digested.digest(ran);
    if (ran.violation === undefined) continue;
    tally.findings.push({ scenario: name, schedule, ...ran.violation });
    return;
  }
};

/** Runs so many seeds with half of the kinds of faults each, and again with all. */
export const compareSwarm = async (first: number, seeds: number): Promise<readonly [Tally, Tally]> => {
  const tallies = [newTally(), newTally()] as const;
  const goOn = (done: number): boolean => done < seeds;
  await searchRandom(first, 1, tallies[0], goOn);
  await searchRandom(first, 1, tallies[1], goOn, () => false);
  return tallies;
};
