import { runWorld } from '../run-world.ts';
import { followSchedule } from '../scheduler/follow-schedule.ts';
import { formatSchedule } from '../scheduler/schedule.ts';
import { traced } from '../trace/trace.ts';
import { findScenario } from './find-scenario.ts';
import { shrink } from './shrink.ts';
import type { Finding } from './tally.ts';

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
