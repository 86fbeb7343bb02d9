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
 * In seconds after the erasure was asked for. The index is eventually consistent, and a request that was answered before may be recorded a
 * moment after: request-extraction ends after 15 s.
 */
const secondSearchAfter = 120;

/** How many entries one invocation handles. Each takes a read, a write and a message, of some 10 ms each. */
const entriesPerSearch = 250;

/** Half of the timeout (erase-queue.ts). Where AWS is slow, the rest is left to the next message: one that times out begins again. */
const maxSearchSeconds = 60;

/**
 * Finds one record, if it was there when it was asked, and queues its erasure. The message comes before the tombstone: a process may end
 * in between, and another copy of the message may finish the search without this record.
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
 * Finds what an erasure is about, and queues each record. By reference, the index is read twice, and the second search starts again from the
 * beginning. Repeating it does no harm. Throws what a dependency throws.
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

/** The same for a scope, of which `replaced` was the last erasure. Returns false, and does nothing, if another one is the last by now. */
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
 * Records what is asked, and queues the search. A process that ends in between leaves an erasure that nobody carries out, and no answer. It
 * expires, as it has the reference.
 */
export const beginErasure = async (
  erasure: AskedErasure,
  { erasures, send }: { readonly erasures: Pick<ErasureStore, 'create'>; readonly send: SendErase },
): Promise<void> => {
  await erasures.create(expiring(erasure));
  await send({ search: { erasureId: erasure.erasureId } }, erasure.askedBy);
};
