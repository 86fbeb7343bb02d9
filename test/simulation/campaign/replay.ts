import { findCase, judge, traceOf } from '../many-extractions/search.ts';
import { runWorld } from '../run-world.ts';
import { followSchedule, parseSchedule } from '../scheduler/schedule.ts';
import { traced } from '../trace/trace.ts';
import { findScenario } from './find-scenario.ts';
import { runSeed } from './search-random.ts';

type Replayed = { readonly isBroken: boolean; readonly text: string };

/** Runs the schedule, or the population, of a name again. The text is its trace, and what it breaks. */
export const replay = async (named: string): Promise<Replayed> => {
  const population = findCase(named);
  if (population !== undefined) {
    const judged = await judge(population);
    return { isBroken: judged.violations.length > 0, text: traceOf(judged) };
  }
  const trace = traced();
  const [name = '', schedule] = named.split('/');
  const seed = /^seed-(\d+)$/.exec(name)?.[1];
  const { world, violation } =
    schedule === undefined && seed !== undefined
      ? (await runSeed(Number(seed), trace.listener)).ran
      : await runWorld(findScenario(name), followSchedule(parseSchedule(schedule ?? '')), trace.listener);
  const verdict =
    violation === undefined ? 'Every invariant holds.' : `${violation.invariant}: ${violation.what}`;
  return {
    isBroken: violation !== undefined,
    text: [JSON.stringify(world.scenario), trace.text(world), verdict].join('\n'),
  };
};
