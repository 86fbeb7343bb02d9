import { logMessages } from '../../observability/log-messages.ts';
import type { Telemetry } from '../../observability/telemetry.ts';
import { delayUntil, maxDelaySeconds, secondsSince, type Timings } from '../deadlines.ts';
import { type EndWaitDeps, endWait } from '../end-wait.ts';
import type { Extraction } from '../record.ts';
import { removeRequest } from '../request-data.ts';
import type { ExtractionStore, RequestStore } from '../store.ts';
import { writeProgress } from '../write-progress.ts';
import { type ErasedOne, type ErasureStore, type SendErase, tombstoneExpiry } from './erasure.ts';
import { maxErasureSeconds, pauseWhileOpen, planErasure } from './plan-erasure.ts';

/** Removes what one extraction has left. Each method may be repeated, and may throw before or after it took effect. */
export interface Removals {
  /** Deletes the record if it is still closed, of this request and in this status. Returns true also if there is no record. */
  removeRecord(record: Extraction): Promise<boolean>;
  /** The MAC of credentials in this item of `Tasks`, if it belongs to this extraction. */
  getMac(taskId: string, extractionId: string): Promise<string | undefined>;
  /** Removes the extraction from this mark. The mark goes with its last extraction. */
  removeMark(credentialsMac: string, extractionId: string): Promise<void>;
  /**
   * Replaces the item of the task by one that says only that it was erased, so that a late delivery is recognized. An item of another
   * extraction stays, because the provider may have returned one task id twice.
   */
  eraseTask(taskId: string, extractionId: string): Promise<void>;
  /** Deletes every version of every object of the extraction, and returns their number. */
  removeResults(extractionId: string): Promise<number>;
  /** Deletes the counter of repeated requests under its key (`RepeatCounter`). */
  removeRepeats(extractionId: string): Promise<void>;
}

export type EraseDeps = EndWaitDeps & {
  readonly extractions: Pick<ExtractionStore, 'get' | 'apply'>;
  readonly requests: Pick<RequestStore, 'remove'>;
  readonly removals: Removals;
  readonly erasures: Pick<ErasureStore, 'get' | 'setRemoving' | 'setErased'>;
  readonly send: SendErase;
  readonly now: () => Date;
  readonly timings: Timings;
  readonly telemetry: Telemetry;
};

/** The result of one step of an erasure. `waits`: a message for the next step was sent. */
export type EraseStep = { readonly kind: 'erased'; readonly objects: number } | { readonly kind: 'waits' };

/** Another process may write between our read and write. If that happens more often in a row, it is a defect. */
const maxTries = 8;

/** The record changed too often. SQS delivers the message again. */
export class ErasureContended extends Error {
  override readonly name = 'ErasureContended';
}

/** Removes what the request names, whatever happened to the record. An execution in line would otherwise wait there for hours. */
const removeUnstarted = async (of: ErasedOne, deps: EraseDeps): Promise<void> => {
  await removeRequest('erased', of, deps.requests);
  await endWait(of, deps);
};

/**
 * Removes all of a closed extraction. The order lets an interrupted erasure be repeated: results, the mark (which the item in `Tasks` leads
 * to), the items in `Tasks`, `Requests` and `StartLine`, and the record. The tombstone is written before, because a restore may follow at
 * once. Returns undefined if a correction has reopened the record.
 */
const remove = async (of: ErasedOne, record: Extraction, deps: EraseDeps): Promise<number | undefined> => {
  const { removals, erasures, now } = deps;
  const { extractionId, taskId } = record;
  await erasures.setRemoving(of, now().toISOString(), tombstoneExpiry(now()));
  const objects = await removals.removeResults(extractionId);
  const mac = taskId === undefined ? undefined : await removals.getMac(taskId, extractionId);
  if (mac !== undefined) await removals.removeMark(mac, extractionId);
  if (taskId !== undefined && record.method === 'credentials') await removals.eraseTask(taskId, extractionId);
  // Until the task was erased, a delivery may have written the mark again.
  if (mac !== undefined) await removals.removeMark(mac, extractionId);
  await removeRequest('erased', record, deps.requests);
  await endWait(of, deps);
  return (await removals.removeRecord(record)) ? objects : undefined;
};

/** Removes what an interrupted erasure may have left after the record was gone. */
const finish = async (of: ErasedOne, record: Extraction | undefined, deps: EraseDeps): Promise<number> => {
  const { removals, erasures, now, telemetry } = deps;
  await removeUnstarted(of, deps);
  let objects = 0;
  // If there is a record, it belongs to a later request under this id, and so do results and repeats.
  if (record === undefined) {
    objects = await removals.removeResults(of.extractionId);
    await removals.removeRepeats(of.extractionId);
  }
  await erasures.setErased(of, now().toISOString(), tombstoneExpiry(now()));
  telemetry.log(logMessages.erased, { extractionId: of.extractionId, erasureId: of.erasureId });
  return objects;
};

/**
 * Erases one record as far as that is possible now, and sends the message for the next step. It may be repeated. Throws what its
 * dependencies throw, ErasureContended and WaitContended. The message is then delivered again.
 *
 * The race with a collection that is under way: once the record has the mark, the collection's close is refused. The last pass begins when
 * every process that had read the record before has ended. So it also removes the object that the collection has stored:
 *
 *     erasure:     mark `erasingAt` ─► the record is open: waits ──────────────► closed, and too old to be written ─► removes all
 *     collection:  read ─► object ─► close: refused ─► closes without results ┘
 */
export const eraseExtraction = async (of: ErasedOne, deps: EraseDeps): Promise<EraseStep> => {
  const { extractionId, requestId, erasureId } = of;
  const { extractions, now, timings, send } = deps;
  let objects = 0;
  for (let tries = 0; tries < maxTries; tries += 1) {
    const record = await extractions.get(extractionId);
    const planned = planErasure(record, requestId, now(), timings);
    if (planned.kind === 'gone')
      return { kind: 'erased', objects: objects + (await finish(of, record, deps)) };
    if (planned.kind === 'write') {
      const { record: written } = await writeProgress(planned.change, [], record, deps);
      // The sealed data are no longer needed, and go a minute before the rest.
      if (written?.status === 'NOT_STARTED') await removeUnstarted(of, deps);
      continue;
    }
    if (planned.kind === 'remove') {
      objects += (await remove(of, record as Extraction, deps)) ?? 0;
      continue;
    }
    const { askedAt = now().toISOString(), askedBy = erasureId } = (await deps.erasures.get(erasureId)) ?? {};
    const delay =
      planned.kind === 'open'
        ? pauseWhileOpen(askedAt, now())
        : Math.min(maxDelaySeconds, delayUntil(planned.until, now()));
    if (secondsSince(askedAt, now()) > maxErasureSeconds(timings))
      deps.telemetry.count('ErasureOverdue', { extractionId });
    await send({ erase: of }, askedBy, delay);
    return { kind: 'waits' };
  }
  throw new ErasureContended(`The record of ${extractionId} changed again and again.`);
};
