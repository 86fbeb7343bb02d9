import { runWorld } from '../run-world.ts';
import { followSchedule, formatSchedule, type Schedule } from '../scheduler/schedule.ts';
import { traced } from '../trace/trace.ts';
import type { Scenario } from '../world/scenario.ts';
import { findScenario } from './find-scenario.ts';
import type { Finding } from './tally.ts';

const breaks = async (scenario: Scenario, schedule: Schedule, invariant: string): Promise<boolean> =>
  (await runWorld(scenario, followSchedule(schedule), {})).violation?.invariant === invariant;

/** Removes departures, one after the other, while the same invariant still breaks. */
const shrink = async (scenario: Scenario, schedule: Schedule, invariant: string): Promise<Schedule> => {
  let shortest = schedule;
  for (let index = schedule.length - 1; index >= 0; index -= 1) {
    const without = shortest.filter((_departure, at) => at !== index);
    if (await breaks(scenario, without, invariant)) shortest = without;
  }
  return shortest;
};

/** The name under which a finding is repeated. */
export const nameOf = ({ scenario, schedule }: Pick<Finding, 'scenario' | 'schedule'>): string =>
  `${scenario}/${formatSchedule(schedule)}`;

/** A finding as text: what is wrong, its shortest trace, and the commands that repeat it. */
export const showFinding = async ({
  scenario: name,
  schedule,
  invariant,
  what,
}: Finding): Promise<string> => {
  const scenario = findScenario(name);
  const shortest = await shrink(scenario, schedule, invariant);
  const trace = traced();
  const { world } = await runWorld(scenario, followSchedule(shortest), trace.listener);
  return [
    `${invariant}: ${what}`,
    trace.text(world),
    `Repeat it:  npm run simulate -- --replay ${nameOf({ scenario: name, schedule: shortest })}`,
    `As found:   npm run simulate -- --replay ${nameOf({ scenario: name, schedule })}`,
  ].join('\n');
};
