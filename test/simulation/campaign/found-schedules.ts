import { appendFileSync, readFileSync } from 'node:fs';

const file = new URL('found-schedules.txt', import.meta.url);

/** The schedules that random searches have found, one on each line. Each broke an invariant once; every run of the tests repeats them. */
export const foundSchedules = (): readonly string[] => readFileSync(file, 'utf8').trim().split('\n');

/** Adds what a search has found, to be committed with the repair. */
export const keepSchedule = (named: string): void => {
  if (!foundSchedules().includes(named)) appendFileSync(file, `${named}\n`);
};
