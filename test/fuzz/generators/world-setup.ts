import fc from 'fast-check';
import { dueShardOf } from '#lib/extraction/due.ts';
import { type Extraction, type TerminalStatus, terminalStatuses } from '#lib/extraction/record.ts';
import type { Task } from '#lib/extraction/store.ts';
import { allStatuses, consentIn, extractionIn, iso } from '../../support/data/extraction-fixtures.ts';
import type { WorldSetup } from '../webhook/webhook-world.ts';

/** The tasks that items are about; the odd ones are names that an object would trip over. */
export const knownTasks = ['task-0', 'task-1', '__proto__', 'constructor', 'tarea-ñ 4'] as const;

/** A signing key: any text, and some that are longer than HMAC's block, which it hashes first. */
const keyText = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme-ascii', minLength: 65, maxLength: 120 }) },
);

/** What the secret may hold: one key, or two after a rotation. */
const signingKeys: fc.Arbitrary<readonly string[]> = fc
  .tuple(keyText, fc.option(keyText, { nil: undefined }))
  .map(([current, previous]) =>
    previous === undefined || previous === current ? [current] : [current, previous],
  );

export const terminalStatus: fc.Arbitrary<TerminalStatus> = fc.constantFrom(...terminalStatuses);

/** How one task and its extraction may stand when a delivery comes. */
const standing = fc.record({
  link: fc.constantFrom('none', 'unlinked', 'linked', 'linked-with-token'),
  /** The status that an earlier delivery left. */
  delivered: fc.option(terminalStatus, { nil: undefined }),
  status: fc.oneof(
    { weight: 2, arbitrary: fc.constant('RUNNING' as const) },
    { weight: 1, arbitrary: fc.constant('TIMED_OUT' as const) },
    { weight: 2, arbitrary: fc.constantFrom(...allStatuses, 'no record' as const) },
  ),
  method: fc.constantFrom('credentials', 'consent'),
  /** Whether the record names this task, and not another one. */
  sameTask: fc.oneof(
    { weight: 5, arbitrary: fc.constant(true) },
    { weight: 1, arbitrary: fc.constant(false) },
  ),
  collected: fc.boolean(),
  /** Whether `dueAt` is before the delivery or after. */
  dueAt: fc.option(fc.constantFrom(iso(60), iso(7_300), iso(9_000)), { nil: undefined }),
});
type Standing = typeof standing extends fc.Arbitrary<infer One> ? One : never;

const extractionIdOf = (index: number): string => `0190a0b0-0000-7000-8000-00000000000${index}`;

const recordOf = (index: number, taskId: string, one: Standing): Extraction[] => {
  if (one.status === 'no record') return [];
  const standard = one.method === 'consent' ? consentIn(one.status) : extractionIn(one.status);
  const extractionId = extractionIdOf(index);
  const open = standard.dueShard === undefined ? {} : { dueShard: dueShardOf(extractionId) };
  const record: Extraction = { ...standard, extractionId, ...open };
  const named =
    record.taskId === undefined ? record : { ...record, taskId: one.sameTask ? taskId : 'another-task' };
  const collected =
    one.collected && record.settledAt !== undefined ? { ...named, collectedAt: iso(7_250) } : named;
  return [
    collected.dueAt === undefined || one.dueAt === undefined ? collected : { ...collected, dueAt: one.dueAt },
  ];
};

const taskOf = (index: number, taskId: string, { link, delivered }: Standing): Task[] => {
  if (link === 'none') return [];
  const left = delivered === undefined ? {} : { taskStatus: delivered, notifiedAt: iso(30) };
  if (link === 'unlinked') return delivered === undefined ? [] : [{ taskId, ...left }];
  const linked = { taskId, ...left, extractionId: extractionIdOf(index) };
  return [link === 'linked' ? linked : { ...linked, callbackToken: `token-${index}`, callbackAttempt: 1 }];
};

/** Keys, records of every status linked in every way, and the answer of Step Functions. */
export const worldSetup: fc.Arbitrary<WorldSetup> = fc
  .record({
    keys: signingKeys,
    standings: fc.array(standing, { minLength: knownTasks.length, maxLength: knownTasks.length }),
    wake: fc.constantFrom('woken', 'gone', 'invalid-token'),
  })
  .map(({ keys, standings, wake }) => {
    const all = knownTasks.map((taskId, index) => [index, taskId, standings[index]] as const);
    return {
      keys,
      wake,
      extractions: all.flatMap(([index, taskId, one]) => (one ? recordOf(index, taskId, one) : [])),
      tasks: all.flatMap(([index, taskId, one]) => (one ? taskOf(index, taskId, one) : [])),
    };
  });
