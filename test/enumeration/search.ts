import { allowedTransitions, type TransitionName } from '#lib/extraction/change.ts';
import { secondsSince } from '#lib/extraction/deadlines.ts';
import { type ReconcileDeps, reconcile } from '#lib/extraction/reconcile/reconcile.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import { run } from '#lib/extraction/run.ts';
import type { Caught } from '../simulation/planted-faults/search-with-fault.ts';
import { timings } from '../support/data/extraction-fixtures.ts';
import { memoryTelemetry } from '../support/data/memory-telemetry.ts';
import { randomOf } from '../support/data/random.ts';
import { extractionStoreOver, memoryExtractionStore } from '../support/stores/memory-extraction-store.ts';
import { checks } from './checks.ts';
import { type Chain, firstPlan } from './decision-chain.ts';
import { answersTo } from './effect-answers.ts';
import { allStarts, drawChains, enumerate, type Start } from './enumerate.ts';
import { allRecords, countKept, limitsOf, mayEnd } from './records.ts';

/** `broken`: the name of the check, and how the first chain broke it. */
export type Searched = { readonly decisions: number; readonly broken?: readonly [string, string] };

const textOf = ({ record, invoker, happened, end }: Chain, what: string): string =>
  [
    what,
    JSON.stringify(record),
    JSON.stringify(invoker),
    ...happened.map((one) => JSON.stringify(one)),
    JSON.stringify(end),
  ].join('\n');

const maxSteps = 30;

/**
 * What breaks the rule that a chain ends as contended after so many steps, and only then: one whose writes are all refused, and one
 * that repeats itself, as its writes change nothing.
 */
const contend = async (starts: readonly Start[], kind: 'lost' | 'written'): Promise<string | undefined> => {
  for (const [record, invoker, at] of starts) {
    for (let answer = 0; answer < (countKept(record) === 0 ? 11 : 0); answer += 1) {
      let steps = 0;
      const step = (): void => {
        steps += 1;
        if (steps > maxSteps) throw new Error('It does not end.');
      };
      const deps = { extractions: memoryExtractionStore(), timings, telemetry: memoryTelemetry().telemetry };
      const end = await run(firstPlan(record, invoker, at, 'FAILED'), record, invoker, {
        ...deps,
        send: async () => undefined,
        now: () => at,
        perform: async (effect, of) => {
          step();
          const answers = answersTo(effect, of, invoker.kind === 'start');
          return { observed: answers[answer % answers.length] as (typeof answers)[number], record: of };
        },
        write: async () => {
          step();
          return { kind, record };
        },
      }).catch((error: unknown) => ({ explanation: String(error) }));
      const isContended = end.explanation === 'contended';
      if (steps > maxSteps || isContended !== (steps === maxSteps)) {
        return `${JSON.stringify([record, invoker, at])}: ${end.explanation} after ${steps} steps of writes that are ${kind}.`;
      }
    }
  }
  return undefined;
};

const never = async (): Promise<never> => {
  throw new Error('It is not called.');
};

/**
 * Reconciles a record as messages of the sweep do, which move on to the slow queue: every 6 h, and past the time of its status every
 * 100 s, which is less than a timeout of the function. Each read ends its process. Reads are paused for the first 5 minutes past the time.
 */
const lifeOf = async (record: Extraction, from = record.deadlineAt): Promise<string | undefined> => {
  const { extractionId, taskId = '' } = record;
  const items = new Map([[extractionId, record]]);
  const current = () => items.get(extractionId) ?? record;
  let now = new Date(from);
  let diedAt = '';
  let isPaused = false;
  const visit = (isSlow: boolean): Promise<unknown> =>
    new Promise((ended, failed) => {
      const deps: ReconcileDeps = {
        extractions: extractionStoreOver(items, async (_call, effect) => effect()),
        requests: { put: never, get: async () => undefined, remove: async () => {}, extend: async () => {} },
        tasks: {
          get: async () => ({ taskId, extractionId, callbackToken: 'token' }),
          link: never,
          recordStatus: never,
          adopt: never,
          notice: never,
          setMarked: never,
        },
        refusals: { put: never },
        startLine: { find: async () => undefined, withdraw: never },
        wake: never,
        keptDays: 0,
        timings,
        telemetry: memoryTelemetry().telemetry,
        now: () => now,
        send: async () => {},
        sendSlow: async () => {},
        storeResults: never,
        isPaused: async () => isPaused,
        readCallFor: () => {
          diedAt = now.toISOString();
          ended('died');
          return new Promise(() => {});
        },
      };
      reconcile(extractionId, { kind: 'queue', cause: 'sweep', isSlow }, deps).then(ended, failed);
    });
  for (let visits = 1; visits <= 40; visits += 1) {
    const [limit = ''] = limitsOf(current());
    isPaused = secondsSince(limit, now) >= 0 && secondsSince(limit, now) < 300;
    await visit(false);
    await visit(true);
    if (current().dueShard === undefined) {
      if (isPaused) return 'It is closed while reads are paused.';
      return diedAt < limit ? 'It is closed without a last read.' : undefined;
    }
    now = new Date(now.getTime() + (mayEnd(current(), now) ? 100_000 : 6 * 3_600_000));
  }
  return 'It is never closed.';
};

/** What breaks the rule that every record closes after its last read, if each read ends its process. A pause keeps it open. */
const dieInEachRead = async (records: readonly Extraction[]): Promise<string | undefined> => {
  for (const record of records) {
    const isRead = record.dueShard !== undefined && record.taskId !== undefined;
    const broken = isRead && record.oversizedAt === undefined ? await lifeOf(record) : undefined;
    if (broken !== undefined) return `${broken}\n${JSON.stringify(record)}`;
  }
  return undefined;
};

const mayLack = ['attemptId', 'startingAt', 'startedAt', 'taskId', 'settledAt'] as const;
const times = ['requestedAt', 'deadlineAt', ...mayLack.slice(1, 3), 'settledAt', 'lastReadBegunAt'];

/** What breaks the rule that every open record closes, whatever it lacks, whichever time is none, and whatever its status is. */
const lackAttributes = async (records: readonly Extraction[]): Promise<string | undefined> => {
  const damages = [
    ...mayLack.map((name) => [name, undefined]),
    ...times.flatMap((name) => ['no time', 'March 1 2026'].map((value) => [name, value])),
  ];
  for (const record of records) {
    for (const [name = '', value] of damages) {
      const damaged = { ...record, dueShard: 0, dueAt: record.deadlineAt, [name]: value } as Extraction;
      const broken = await lifeOf(damaged, record.deadlineAt).catch(String);
      if (broken?.startsWith('It is closed') === false) return `${broken}\n${JSON.stringify(damaged)}`;
    }
  }
  return undefined;
};

/** What breaks a rule in the chains with at most one departure, or in those of every tenth start, and in `drawn` others of a seed. */
export const search = async ({
  seed,
  drawn,
  every = 1,
}: {
  readonly seed: number;
  readonly drawn: number;
  readonly every?: number;
}): Promise<Searched> => {
  const starts = await allStarts(every);
  const records = (await allRecords()).filter((_, index) => index % every === 0);
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
  const endless = (await contend(starts, 'lost')) ?? (await contend(starts, 'written'));
  if (endless !== undefined) return { decisions: 0, broken: ['ends-contended', endless] };
  const unclosed = await dieInEachRead(records);
  if (unclosed !== undefined) return { decisions: 0, broken: ['closes-though-reads-die', unclosed] };
  const incomplete = await lackAttributes(records);
  if (incomplete !== undefined) return { decisions: 0, broken: ['closes-incomplete', incomplete] };
  const decisions = await enumerate(starts, take);
  if (broken === undefined) await drawChains(randomOf(seed), starts, drawn, take);
  // The rarest is of few starts, so that a part of them may lack it.
  const missing =
    every > 1 ? [] : Object.keys(allowedTransitions).filter((name) => !made.has(name as TransitionName));
  if (broken === undefined && missing.length > 0) broken = ['transitions-occur', missing.join()];
  return { decisions, ...(broken === undefined ? {} : { broken }) };
};

/** The names of all checks, those of the whole search included. */
export const checkNames: readonly string[] = [
  ...checks.map(({ name }) => name),
  'ends-contended',
  'closes-though-reads-die',
  'closes-incomplete',
  'transitions-occur',
];

/** As of a simulation, so that planted faults are searched alike: in a tenth of the starts, and in all if that shows nothing. */
export const searchWithFault = async (): Promise<Caught> => {
  const part = await search({ seed: 1, drawn: 500, every: 10 });
  const { decisions, broken = [] } =
    part.broken === undefined ? await search({ seed: 1, drawn: 5_000 }) : part;
  return { invariant: broken[0], schedules: decisions, schedule: 'the enumeration', trace: broken[1] ?? '' };
};
