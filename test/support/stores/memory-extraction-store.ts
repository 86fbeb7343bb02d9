import type { DueRecord, Guard, Update } from '#lib/extraction/change.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import { inAnySpelling } from '#lib/extraction/spellings.ts';
import type { ExtractionStore, NameIndex } from '#lib/extraction/store.ts';
import { type CarryOut, inMemory } from './store-fault.ts';

/** DynamoDB would refuse the update: an expression or the map of values is empty, or two paths overlap. */
export class InvalidChange extends Error {
  override readonly name = 'InvalidChange';
}

/** As in DynamoDB, a comparison with an absent attribute is false. */
const holds = (when: Guard, record: Extraction): boolean =>
  (when.status === undefined || when.status.includes(record.status)) &&
  (when.requestId === undefined || record.requestId === when.requestId) &&
  (when.attemptId === undefined || record.attemptId === when.attemptId) &&
  (when.withoutAttempt === undefined || record.attemptId === undefined) &&
  (when.taskId === undefined || record.taskId === when.taskId) &&
  (when.open === undefined || record.dueShard !== undefined) &&
  (when.uncollected === undefined || record.collectedAt === undefined) &&
  (when.notErasing === undefined || record.erasingAt === undefined) &&
  (when.dueAt === undefined || record.dueAt === when.dueAt);

/** A copy without undefined fields, as marshalling makes it. Written by hand because simulations spend their time here. */
const stored = <T>(value: T): T => copy(value) as T;

const copy = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copy);
  const copied: Record<string, unknown> = {};
  for (const [field, of] of Object.entries(value)) if (of !== undefined) copied[field] = copy(of);
  return copied;
};

const changed = (record: Extraction, { set, remove }: Update): Extraction => {
  const next: Record<string, unknown> = { ...record, ...stored(set) };
  for (const attribute of remove) delete next[attribute];
  return next as Extraction;
};

const assertValid = ({ when, set, remove }: Update): void => {
  const assigned = Object.keys(stored(set));
  if (assigned.length + remove.length === 0) throw new InvalidChange('The change changes nothing.');
  const conditions = Object.values(stored(when));
  if (conditions.length === 0) throw new InvalidChange('The change has no condition.');
  // DynamoDB refuses an empty map of values. The conditions that are `true` need none.
  if (assigned.length === 0 && conditions.every((of) => of === true)) {
    throw new InvalidChange('The change has no value.');
  }
  const both = remove.find((attribute) => assigned.includes(attribute));
  if (both !== undefined) throw new InvalidChange(`The change sets and removes ${both}.`);
};

/** The order of the index. */
const inOrder = (one: DueRecord, other: DueRecord): number =>
  one.dueAt === other.dueAt
    ? one.extractionId.localeCompare(other.extractionId)
    : one.dueAt < other.dueAt
      ? -1
      : 1;

/** An extraction store over shared records. `carryOut` executes each call. */
export const extractionStoreOver = (
  records: Map<string, Extraction>,
  carryOut: CarryOut,
): ExtractionStore => {
  const call = <T>(method: keyof ExtractionStore, key: string, effect: () => T): Promise<T> =>
    carryOut({ store: 'extractions', method, key }, effect);

  return {
    create: (record) =>
      call('create', record.extractionId, () => {
        const existing = records.get(record.extractionId);
        if (existing !== undefined) return { created: false, record: stored(existing) } as const;
        records.set(record.extractionId, stored(record));
        return { created: true } as const;
      }),
    get: (extractionId) =>
      call('get', extractionId, () => {
        const record = records.get(extractionId);
        return record === undefined ? undefined : stored(record);
      }),
    apply: (change) =>
      call('apply', change.extractionId, () => {
        assertValid(change);
        const record = records.get(change.extractionId);
        // An update without a record creates one, if its condition holds for no attributes at all.
        const found = record ?? ({ extractionId: change.extractionId } as Extraction);
        if (!holds(change.when, found)) {
          return { applied: false, record: record === undefined ? undefined : stored(record) } as const;
        }
        const next = changed(found, change);
        records.set(change.extractionId, next);
        return { applied: true, record: stored(next) } as const;
      }),
    due: (shard, now, limit, after) =>
      call('due', String(shard), () =>
        [...records.values()]
          .flatMap(({ extractionId, dueShard, dueAt }) =>
            dueShard === shard && dueAt !== undefined ? [{ extractionId, dueAt }] : [],
          )
          .filter(({ dueAt }) => dueAt <= now.toISOString())
          .sort(inOrder)
          .filter((one) => after === undefined || inOrder(after, one) < 0)
          .slice(0, limit),
      ),
  };
};

/** The table `Extractions` in memory, with DynamoDB's semantics. The index `due` is never stale. */
export const memoryExtractionStore = inMemory(extractionStoreOver);

/** The indexes `reference` and `batch` over the records of a store. They are never stale. */
export const memoryNameIndex = (records: ReadonlyMap<string, Extraction>): NameIndex =>
  inAnySpelling(exactNameIndex(records));

const exactNameIndex = (records: ReadonlyMap<string, Extraction>): NameIndex => ({
  find: async ({ by, name, requestedBy, limit, after }) => {
    const sorted = [...records.values()]
      .filter((record) => record[by] === name)
      .filter((record) => requestedBy === undefined || record.requestedBy === requestedBy)
      .sort(
        (one, other) =>
          other.requestedBy.localeCompare(one.requestedBy) ||
          other.requestedAt.localeCompare(one.requestedAt) ||
          one.extractionId.localeCompare(other.extractionId),
      );
    const from = sorted.findIndex(({ extractionId }) => extractionId === after?.extractionId) + 1;
    const entries = sorted.slice(from, from + limit).map((one) => ({
      extractionId: one.extractionId,
      requestedBy: one.requestedBy,
      requestedAt: one.requestedAt,
    }));
    const last = from + entries.length < sorted.length ? entries.at(-1) : undefined;
    return { entries, ...(last === undefined ? {} : { last }) };
  },
});
