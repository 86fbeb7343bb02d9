import { delayUntil, plusSeconds, secondsSince } from '../deadlines.ts';
import { isSameName } from '../spellings.ts';
import type { ExtractionStore, NamedEntry, NameIndex } from '../store.ts';
import { type Erasure, type ErasureStore, type SendErase, tombstoneExpiry } from './erasure.ts';

export type SearchDeps = {
  readonly extractions: Pick<ExtractionStore, 'get'>;
  readonly index: NameIndex;
  readonly erasures: Pick<ErasureStore, 'get' | 'bury' | 'finishSearch'>;
  readonly send: SendErase;
  readonly now: () => Date;
};

/**
 * In seconds after the request. The second search finds what the eventually consistent index did not have yet. It also finds a request
 * whose record is written a moment later, because request-extraction runs for up to 15 s.
 */
const secondSearchAfter = 120;

/** How many entries one invocation handles. Each takes a read, a write and a message, of some 10 ms each. */
const entriesPerSearch = 250;

/** Half of the timeout (erase-queue.ts). If AWS is slow, the next message continues, because a search that times out begins again. */
const maxSearchSeconds = 60;

/**
 * Queues the erasure of one record, if the record existed when the erasure was requested. The message is sent before the tombstone is
 * written. Otherwise, if this process ended in between, another copy of its message might finish the search without this record.
 */
const queue = async (extractionId: string, erasure: Erasure, deps: SearchDeps): Promise<void> => {
  const { erasureId, askedAt, askedBy, requestedBy } = erasure;
  const record = await deps.extractions.get(extractionId);
  if (record === undefined || record.requestedAt > askedAt) return;
  if (requestedBy !== undefined && record.requestedBy !== requestedBy) return;
  if (erasure.reference !== undefined && !isSameName(record.reference, erasure.reference)) return;
  const { requestId } = record;
  await deps.send({ erase: { erasureId, extractionId, requestId } }, askedBy);
  await deps.erasures.bury({ erasureId, extractionId, requestId });
};

/**
 * Finds the records of an erasure, and queues each. By reference, the index is read twice, and the second search starts from the beginning.
 * It may be repeated. Throws what its dependencies throw.
 */
export const searchForErasure = async (
  {
    erasureId,
    isLast,
    after,
  }: {
    readonly erasureId: string;
    readonly isLast?: true | undefined;
    readonly after?: NamedEntry | undefined;
  },
  deps: SearchDeps,
): Promise<void> => {
  const erasure = await deps.erasures.get(erasureId);
  if (erasure === undefined || erasure.searchedAt !== undefined) return;
  const { extractionId, reference, askedBy, requestedBy } = erasure;
  if (extractionId !== undefined) await queue(extractionId, erasure, deps);
  if (reference !== undefined) {
    const found = await deps.index.find({
      by: 'reference',
      name: reference,
      requestedBy,
      limit: entriesPerSearch,
      after,
    });
    const begunAt = deps.now().toISOString();
    let { last } = found;
    for (const entry of found.entries) {
      await queue(entry.extractionId, erasure, deps);
      if (secondsSince(begunAt, deps.now()) < maxSearchSeconds) continue;
      last = entry;
      break;
    }
    if (last !== undefined) {
      await deps.send({ search: { erasureId }, ...(isLast && { isLast }), after: last }, askedBy);
      return;
    }
    if (isLast !== true) {
      const delay = delayUntil(plusSeconds(erasure.askedAt, secondSearchAfter), deps.now());
      await deps.send({ search: { erasureId }, isLast: true }, askedBy, delay);
      return;
    }
  }
  await deps.erasures.finishSearch(erasureId, deps.now().toISOString(), tombstoneExpiry(deps.now()));
};

export type AskedErasure = Omit<Erasure, 'searchedAt' | 'expiresAt'>;

const expiring = (erasure: AskedErasure): Erasure => ({
  ...erasure,
  expiresAt: tombstoneExpiry(new Date(erasure.askedAt)),
});

/** As `beginErasure`, for a scope whose last erasure was `replaced`. If another one is the last by now, does nothing and returns false. */
export const beginErasureOf = async (
  scopeMac: string,
  erasure: AskedErasure,
  replaced: string | undefined,
  { erasures, send }: { readonly erasures: Pick<ErasureStore, 'createFor'>; readonly send: SendErase },
): Promise<boolean> => {
  if (!(await erasures.createFor(scopeMac, expiring(erasure), replaced))) return false;
  await send({ search: { erasureId: erasure.erasureId } }, erasure.askedBy);
  return true;
};

/**
 * Records the request, and queues the search. If the process ends in between, the caller gets no answer, and the erasure is never carried
 * out. It expires, because it contains the reference.
 */
export const beginErasure = async (
  erasure: AskedErasure,
  { erasures, send }: { readonly erasures: Pick<ErasureStore, 'create'>; readonly send: SendErase },
): Promise<void> => {
  await erasures.create(expiring(erasure));
  await send({ search: { erasureId: erasure.erasureId } }, erasure.askedBy);
};
