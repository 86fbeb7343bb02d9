import { randomOf } from '../../support/random.ts';
import type { Caught } from '../faults/search-with-fault.ts';
import { Fleet } from './fleet.ts';
import { countsOf, outageInvariants } from './invariants.ts';
import { drawOutage } from './outage.ts';

/** Runs the outage of a seed to its end. */
export const runOutage = async (seed: number): Promise<Fleet> => {
  const random = randomOf(seed);
  const fleet = new Fleet(drawOutage(random), random);
  await fleet.run();
  return fleet;
};

export const violationIn = (
  fleet: Fleet,
): { readonly invariant: string; readonly what: string } | undefined => {
  for (const { name, check } of outageInvariants) {
    const what = check(fleet);
    if (what !== undefined) return { invariant: name, what };
  }
  return undefined;
};

/** The calls to the provider and the changes of the breaker, in order, as text. */
export const traceOf = (fleet: Fleet, seed: number): string => {
  const started = Date.parse('2026-03-01T12:00:00.000Z');
  const seconds = (at: number): string => ((at - started) / 1_000).toFixed(3).padStart(9);
  const calls = fleet.provider.calls.map(({ at, process, kind, result = 'no answer' }) => ({
    at,
    text: `${process}: ${kind} → ${result}`,
  }));
  const changes = fleet.changes.map(({ at, after }) => ({ at, text: `breaker ${JSON.stringify(after)}` }));
  return [
    JSON.stringify(fleet.outage),
    ...[...calls, ...changes]
      .toSorted((one, other) => one.at - other.at)
      .map(({ at, text }) => `${seconds(at)} ${text}`),
    JSON.stringify(countsOf(fleet)),
    `Repeat it:  npm run simulate -- --replay outage-${seed}`,
  ].join('\n');
};

/** How many seeds are searched for a fault. */
const mostSeeds = 300;

/** Searches outages for a broken invariant, in the same order each time. */
export const searchWithFault = async (): Promise<Caught> => {
  for (let seed = 1; seed <= mostSeeds; seed += 1) {
    const fleet = await runOutage(seed);
    const violation = violationIn(fleet);
    if (violation === undefined) continue;
    const trace = `${violation.invariant}: ${violation.what}\n${traceOf(fleet, seed)}`;
    return { invariant: violation.invariant, schedules: seed, schedule: `outage-${seed}`, trace };
  }
  return { invariant: undefined, schedules: mostSeeds, schedule: '', trace: '' };
};
