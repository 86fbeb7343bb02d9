import { defined } from '../../defined.ts';
import { nextReconcileAt, plusSeconds } from '../deadlines.ts';
import { delayUntil, longestDelaySeconds } from '../reconcile-message.ts';
import type { Extraction, StoredResults } from '../record.ts';
import { abandonOversized, closeCollected, closeUncollected, decisionOn } from '../transitions.ts';
import { readProvider } from './read-provider.ts';
import type { Reading } from './reading.ts';
import {
  close,
  closeOversized,
  deferUntil,
  type ReconcileCaller,
  type ReconcileDeps,
  type Step,
  type Waiting,
} from './steps.ts';

/** The longest pause between two attempts to collect, in seconds. */
const collectCeiling = 3600;

export const abandonTooLarge = (record: Extraction, deps: ReconcileDeps): Promise<Step> =>
  closeOversized(abandonOversized(decisionOn(record, deps)), deps, 'CollectionAbandoned');

export const abandonCollection = (
  record: Extraction,
  collectionError: string,
  deps: ReconcileDeps,
): Promise<Step> =>
  close(closeUncollected({ ...decisionOn(record, deps), collectionError }), deps, 'CollectionAbandoned');

/** Until when an outcome is collected. The first read after it is the last one. */
const collectUntil = ({ settledAt, requestedAt }: Extraction, { timings }: ReconcileDeps): string =>
  plusSeconds(settledAt ?? requestedAt, timings.collectFor);

/**
 * After a failed collection: tried again at growing intervals, by the queue, then by the sweep. Abandoned after the last read.
 */
const retryCollection = async (
  record: Extraction,
  {
    why,
    isLast,
    isHeld = false,
    isAnswered,
  }: Waiting & { readonly isLast: boolean; readonly isHeld?: boolean },
  deps: ReconcileDeps,
): Promise<Step> => {
  if (!isHeld) deps.telemetry.count('CollectionFailed', record);
  if (isLast && !isHeld) return abandonCollection(record, why, deps);
  const now = deps.now();
  const { settledAt = record.requestedAt } = record;
  const ceiling = isLast ? deps.timings.pollEvery : collectCeiling;
  const next = nextReconcileAt(settledAt, now, deps.timings.pollFirst, ceiling);
  if (delayUntil(next, now) > longestDelaySeconds) deps.telemetry.count('CollectionDeferred', record);
  return deferUntil(record, next, defined({ why, isAnswered }), deps);
};

/**
 * Whether the outcome implies that there are results. A later read without results, such as a passing error of the
 * provider, must then not close the record as collected.
 */
const impliesResults = ({ status }: Extraction): boolean => status === 'COMPLETED' || status === 'PARTIAL';

/** Reads and stores the results of an extraction that has ended, and closes the record. */
export const collect = async (
  record: Extraction,
  taskId: string,
  reading: Reading | undefined,
  caller: ReconcileCaller,
  deps: ReconcileDeps,
): Promise<Step> => {
  if (record.oversizedAt !== undefined) return abandonTooLarge(record, deps);
  const isLast = deps.now().toISOString() >= collectUntil(record, deps);
  const read =
    reading === undefined
      ? await readProvider(record, taskId, { isLast, caller }, deps)
      : ({ kind: 'read', reading } as const);
  if (read.kind === 'changed') return { kind: 'again', record: read.record };
  if (read.kind === 'moved') return { kind: 'return', result: read };
  if (read.kind === 'no-answer') return retryCollection(record, { ...read, isLast }, deps);
  if (read.reading.kind === 'too-large') return abandonTooLarge(record, deps);
  if (read.reading.kind === 'running') {
    return retryCollection(record, { why: 'still-running', isAnswered: true, isLast }, deps);
  }
  const { taskStatus, results, actionResults, expected } = read.reading;
  if (results === undefined && impliesResults(record)) {
    return retryCollection(record, { why: 'no-results', isAnswered: true, isLast }, deps);
  }
  if (taskStatus !== record.status) deps.telemetry.count('StatusDisagreement', record);
  if (!expected) deps.telemetry.count('UnexpectedResults', record);
  let stored: StoredResults | undefined;
  try {
    if (results !== undefined) stored = await deps.storeResults(record.extractionId, results);
  } catch (error) {
    deps.telemetry.failure('The results could not be stored.', error, record);
    return retryCollection(record, { why: 'results-not-stored', isAnswered: true, isLast }, deps);
  }
  const found = defined({ results: stored, actionResults });
  return close(closeCollected({ ...decisionOn(record, deps), found }), deps, 'Collected');
};
