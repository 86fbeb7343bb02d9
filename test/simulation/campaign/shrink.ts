import { runWorld } from '../run-world.ts';
import { followSchedule } from '../scheduler/follow-schedule.ts';
import type { Schedule } from '../scheduler/schedule.ts';
import type { Scenario } from '../world/scenario.ts';

const breaks = async (scenario: Scenario, schedule: Schedule, invariant: string): Promise<boolean> =>
  (await runWorld(scenario, followSchedule(schedule), {})).violation?.invariant === invariant;

/** Removes departures, one after the other, while the same invariant still breaks. */
export const shrink = async (
  scenario: Scenario,
  schedule: Schedule,
  invariant: string,
): Promise<Schedule> => {
  let shortest = schedule;
  for (let index = schedule.length - 1; index >= 0; index -= 1) {
    const without = shortest.filter((_departure, at) => at !== index);
    if (await breaks(scenario, without, invariant)) shortest = without;
  }
  return shortest;
};
