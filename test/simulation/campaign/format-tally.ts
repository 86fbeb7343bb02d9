import { invariants } from '../invariants/all.ts';
import type { Tally } from './tally.ts';

const rows = (counts: Readonly<Record<string, number>>, of: number): string[] =>
  Object.entries(counts)
    .sort(([, one], [, other]) => other - one)
    .map(
      ([name, times]) =>
        `  ${String(times).padStart(10)}  ${((100 * times) / of).toFixed(1).padStart(5)} %  ${name}`,
    );

/** The tally as text: how much was searched, the outcomes, and how often each possible event occurred. */
export const formatTally = (tally: Tally, seconds: number): string => {
  const premises = Object.fromEntries(invariants.map(({ name }) => [name, tally.premises[name] ?? 0]));
  return [
    `${tally.schedules} schedules in ${seconds.toFixed(1)} s, ${Math.round(tally.schedules / seconds)} per second;`,
    `${tally.steps} steps, at most ${tally.maxSteps} in one; ${Object.keys(tally.ends).length} distinct ends.`,
    '',
    'Outcomes',
    ...rows(tally.outcomes, tally.schedules),
    'Transitions of the status',
    ...rows(tally.transitions, tally.schedules),
    'Departures (share of schedules)',
    ...rows(tally.departures, tally.schedules),
    'Premises of the invariants that occurred (share of schedules)',
    ...rows(premises, tally.schedules),
  ].join('\n');
};
