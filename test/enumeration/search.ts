import { run } from '../../lib/extraction/run.ts';
import { type TransitionName, transitions } from '../../lib/extraction/transitions.ts';
import type { Caught } from '../simulation/planted-faults/search-with-fault.ts';
import { timings } from '../support/data/extraction-fixtures.ts';
import { memoryTelemetry } from '../support/data/memory-telemetry.ts';
import { randomOf } from '../support/data/random.ts';
import { memoryExtractionStore } from '../support/stores/memory-extraction-store.ts';
import { checks } from './checks.ts';
import { type Chain, firstPlan } from './decision-chain.ts';
import { allStarts, drawChains, enumerate } from './enumerate.ts';
import { answersTo } from './lookup-answers.ts';
import { countKept } from './records.ts';

/** `broken`: the name of the check, and how the first chain broke it. */
export type Searched = { readonly decisions: number; readonly broken?: readonly [string, string] };

const textOf = ({ record, who, happened, end }: Chain, what: string): string =>
  [
    what,
    JSON.stringify(record),
    JSON.stringify(who),
    ...happened.map((one) => JSON.stringify(one)),
    JSON.stringify(end),
  ].join('\n');

const maxSteps = 30;

/**
 * What breaks the rule that a chain ends as contended after so many steps, and only then: one whose writes are all refused, and one
 * that repeats itself, as its writes change nothing.
 */
const contend = async (kind: 'lost' | 'written'): Promise<string | undefined> => {
  for (const [record, who, at] of await allStarts()) {
    for (let answer = 0; answer < (countKept(record) === 0 ? 11 : 0); answer += 1) {
      let steps = 0;
      const step = (): void => {
        steps += 1;
        if (steps > maxSteps) throw new Error('It does not end.');
      };
      const deps = { extractions: memoryExtractionStore(), timings, telemetry: memoryTelemetry().telemetry };
      const end = await run(firstPlan(record, who, at, 'FAILED'), record, who, {
        ...deps,
        send: async () => undefined,
        now: () => at,
        learn: async (lookup, of) => {
          step();
          const answers = answersTo(lookup, of, who.kind === 'start');
          return answers[answer % answers.length] as (typeof answers)[number];
        },
        write: async () => {
          step();
          return { kind, record };
        },
      }).catch((error: unknown) => ({ why: String(error) }));
      const isContended = end.why === 'contended';
      if (steps > maxSteps || isContended !== (steps === maxSteps)) {
        return `${JSON.stringify([record, who, at])}: ${end.why} after ${steps} steps of writes that are ${kind}.`;
      }
    }
  }
  return undefined;
};

/** What breaks a rule in the chains with at most one departure, and in `drawn` others of a seed. */
export const search = async ({
  seed,
  drawn,
}: {
  readonly seed: number;
  readonly drawn: number;
}): Promise<Searched> => {
  let broken: Searched['broken'];
  const made = new Set<TransitionName>();
  const take = (chain: Chain): boolean => {
    for (const one of chain.happened) {
      if (one.kind === 'write' && one.isApplied && one.change.transition) made.add(one.change.transition);
    }
    for (const { name, broken: by } of checks) {
      const what = by(chain);
      if (what !== undefined) broken ??= [name, textOf(chain, what)];
    }
    return broken === undefined;
  };
  const endless = (await contend('lost')) ?? (await contend('written'));
  if (endless !== undefined) return { decisions: 0, broken: ['ends-contended', endless] };
  const decisions = await enumerate(take);
  if (broken === undefined) await drawChains(randomOf(seed), drawn, take);
  const missing = Object.keys(transitions).filter((name) => !made.has(name as TransitionName));
  if (broken === undefined && missing.length > 0) broken = ['transitions-occur', missing.join()];
  return { decisions, ...(broken === undefined ? {} : { broken }) };
};

/** The names of all checks, those of the whole search included. */
export const checkNames: readonly string[] = [
  ...checks.map(({ name }) => name),
  'ends-contended',
  'transitions-occur',
];

/** As of a simulation, so that planted faults are searched alike. */
export const searchWithFault = async (): Promise<Caught> => {
  const { decisions, broken = [] } = await search({ seed: 1, drawn: 5_000 });
  return { invariant: broken[0], schedules: decisions, schedule: 'the enumeration', trace: broken[1] ?? '' };
};
