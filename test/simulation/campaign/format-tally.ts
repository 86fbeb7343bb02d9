import { invariants } from '../invariants/all.ts';
import type { Tally } from './tally.ts';

const rows = (counts: Readonly<Record<string, number>>, of: number): string[] =>
  Object.entries(counts)
    .sort(([, one], [, other]) => other - one)
    .map(
      ([name, times]) =>
        `  ${String(times).padStart(10)}  ${((100 * times) / of).toFixed(1).padStart(5)} %  ${name}`,
    );

/** What was explored: how much, how it ended, and how often everything that could happen did. */
export const formatTally = (tally: Tally, seconds: number): string => {
  const premises = Object.fromEntries(invariants.map(({ name }) => [name, tally.premises[name] ?? 0]));
  return [
    `${tally.schedules} schedules in ${seconds.toFixed(1)} s, ${Math.round(tally.schedules / seconds)} a second;`,
    `${tally.steps} steps, at most ${tally.mostSteps} in one; ${Object.keys(tally.ends).length} distinct ends.`,
    '',
    'Outcomes',
    ...rows(tally.outcomes, tally.schedules),
    'Moves',
    ...rows(tally.transitions, tally.schedules),
    'Departures taken (share: of schedules)',
    ...rows(tally.departures, tally.schedules),
    'What each invariant is about came up (share: of schedules)',
    ...rows(premises, tally.schedules),
  ].join('\n');
};
