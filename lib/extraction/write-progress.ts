import { defined } from '../defined.ts';
import { logMessages } from '../observability/log-messages.ts';
import type { ExtractionMetric, MetricName } from '../observability/metric-names.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { judgeOutcome, outcomeText } from './advice.ts';
import type { Change } from './change.ts';
import { type Extraction, subjectFields } from './record.ts';
import { forgetRequest, itemToPutBack } from './request-data.ts';
import type { ChangeOutcome, ExtractionStore, RequestStore, StoredRequest } from './store.ts';

/** Writes a change. If the record refuses it, the change reads from that whether it was written before. Throws what the store throws. */
export const writeChange = async (
  store: Pick<ExtractionStore, 'apply'>,
  change: Change,
): Promise<ChangeOutcome> => {
  const { applied, record } = await store.apply(change);
  if (record === undefined) return { kind: 'lost', record };
  return { kind: applied ? 'written' : change.readRefusal(record), record };
};

/** Reports a time of an extraction, in seconds since the request. */
const report = (
  message: string,
  metric: MetricName,
  { record, time, telemetry }: { record: Extraction; time: string | undefined; telemetry: Telemetry },
  facts: Readonly<Record<string, unknown>>,
): void => {
  const { extractionId, requestedAt, traceparent } = record;
  const seconds = (Date.parse(time ?? '') - Date.parse(requestedAt)) / 1_000;
  telemetry.log(message, {
    extractionId,
    ...subjectFields(record),
    ...facts,
    seconds,
    ...defined({ traceparent }),
  });
  // The write is done, so a damaged time must not fail it.
  if (!Number.isNaN(seconds)) telemetry.count(metric, { extractionId, value: seconds });
};

const reportStart = (record: Extraction, telemetry: Telemetry): void =>
  report(logMessages.started, 'SecondsToStart', { record, time: record.startedAt, telemetry }, {});

/** When the outcome was recorded, as a number that a query of the logs can compare. `health` counts an outcome at this time. */
const settledFields = ({ settledAt }: Extraction) => {
  const settledMs = Date.parse(settledAt ?? '');
  return Number.isNaN(settledMs) ? {} : { settledMs };
};

const outcomeFields = (record: Extraction) => {
  const { extractionId, status, reason } = record;
  // `lastProblem` of any other outcome may change while results are collected. The extraction would then count as two.
  const lastProblem = status === 'NOT_STARTED' ? record.lastProblem : undefined;
  const ended = defined({ status, reason, lastProblem });
  // The saved query counts outcomes by caller (infra/constructs/observability/usage-query.ts).
  const caller = record.requestedBy;
  return { extractionId, caller, ...subjectFields(record), ...ended, ...settledFields(record) };
};

/** Reports an outcome, also a correction. */
const reportOutcome = (record: Extraction, telemetry: Telemetry): void => {
  const of = { record, time: record.settledAt, telemetry };
  const failed = judgeOutcome(outcomeText(record)) === 'failed' ? true : undefined;
  // A metric filter counts `failed` by bank (infra/constructs/observability/bank-alarms.ts).
  report(logMessages.ended, 'SecondsToOutcome', of, { ...outcomeFields(record), ...defined({ failed }) });
  if (failed) telemetry.count('OutcomeFailed', record);
};

/**
 * Logs an outcome that was recorded before, because the process that wrote it may have ended before it logged. `health` counts extractions,
 * not lines. Metrics are not counted again.
 */
export const reportOutcomeAgain = (record: Extraction, telemetry: Telemetry): void =>
  telemetry.log(logMessages.ended, { ...outcomeFields(record), again: true });

/** Takes back the report of a corrected outcome, so that its extraction counts once. */
const reportCorrected = (before: Extraction, telemetry: Telemetry): void =>
  telemetry.log(logMessages.corrected, outcomeFields(before));

/** The error codes of the failed actions, each once, in alphabetical order. `unknown` stands for a missing code. */
export const errorCodesOf = ({
  actionResults = [],
}: Pick<Extraction, 'actionResults'>): readonly string[] => [
  ...new Set(
    actionResults
      .filter(({ status, errorCode }) => status === 'FAILED' || errorCode !== undefined)
      .map(({ errorCode = 'unknown' }) => errorCode)
      .toSorted(),
  ),
];

/** Reports why actions failed, when the results are collected. The outcome is reported earlier, without these codes. */
const reportErrorCodes = (record: Extraction, telemetry: Telemetry): void => {
  const codes = errorCodesOf(record);
  if (codes.length === 0) return;
  const { extractionId, status } = record;
  const cause = codes.join(' and ');
  const facts = { extractionId, ...subjectFields(record), status, cause, ...settledFields(record) };
  telemetry.log(logMessages.errorCodesCollected, facts);
};

/**
 * Writes a change, and reports the start, outcome or results that it contains. Only the process that wrote it reports it and counts
 * `metricsOnWrite`, so each is reported once. `before` is the record that the change was decided on, if it was read. Throws what the store
 * throws.
 */
export const writeProgress = async (
  change: Change,
  metricsOnWrite: readonly ExtractionMetric[],
  before: Extraction | undefined,
  deps: { readonly extractions: Pick<ExtractionStore, 'apply'>; readonly telemetry: Telemetry },
): Promise<ChangeOutcome> => {
  const outcome = await writeChange(deps.extractions, change);
  const isCorrected = change.transition === 'correctOutcome' && outcome.kind !== 'lost';
  if (isCorrected && before !== undefined) reportCorrected(before, deps.telemetry);
  if (outcome.kind !== 'written') return outcome;
  const { record } = outcome;
  if (change.set.startedAt !== undefined) reportStart(record, deps.telemetry);
  if (change.set.settledAt !== undefined) reportOutcome(record, deps.telemetry);
  if (change.set.actionResults !== undefined) reportErrorCodes(record, deps.telemetry);
  for (const metric of metricsOnWrite) deps.telemetry.count(metric, record);
  return outcome;
};

/** Writes a change. The process that wrote it counts `metricsOnWrite`. */
export type Write = (
  change: Change,
  metricsOnWrite: readonly ExtractionMetric[],
  before: Extraction | undefined,
) => Promise<ChangeOutcome>;

type WriteDeps = {
  readonly extractions: ExtractionStore;
  readonly requests: RequestStore;
  readonly telemetry: Telemetry;
};

/**
 * How often a write is tried, each time with the retries of the SDK. From the `STARTING` write on, a write that failed for good would lose
 * the taskId, or end a start that was never made as `UNCONFIRMED`.
 */
const writeTries = 3;

const writeThrice = async <T>(
  what: string,
  write: () => Promise<T>,
  { telemetry }: WriteDeps,
): Promise<T> => {
  for (let left = writeTries - 1; left > 0; left -= 1) {
    try {
      return await write();
    } catch (error) {
      telemetry.failure(`${what} could not be written; retrying.`, error);
    }
  }
  return write();
};

/**
 * Puts the item of a request back. If that fails, the record still gets its taskId. Without the item the task cannot be polled, but without
 * the taskId nobody would know that the task runs.
 */
const putBack = async (item: StoredRequest, deps: WriteDeps): Promise<void> => {
  try {
    await writeThrice('The item of the request', () => deps.requests.put(item), deps);
  } catch (error) {
    const { extractionId } = item;
    deps.telemetry.failure('The item of the request could not be put back.', error, { extractionId });
  }
};

/**
 * Writes the changes of a start. If an earlier try succeeded without an answer, the next try recognizes it.
 *
 * The race of a late start: its call takes so long that another process settles it as stale and removes the item of the request. Then the
 * provider accepts the task. The polls of a consent need the item, so it is put back before the record is `RUNNING`. `used` is the item
 * that the start was made with.
 */
export const startWriter =
  (used: StoredRequest | undefined, deps: WriteDeps): Write =>
  async (change, metricsOnWrite, before) => {
    const { taskId } = change.set;
    const late = change.transition === 'markRunningLate' ? before : undefined;
    const item = late && itemToPutBack(late, taskId, used);
    if (item) await putBack(item, deps);
    const outcome = await writeThrice(
      'The record',
      () => writeProgress(change, metricsOnWrite, before, deps),
      deps,
    );
    if (late && item && outcome.kind === 'lost') {
      await forgetRequest('late-start-refused', { ...late, ...defined({ taskId }) }, deps);
    }
    return outcome;
  };
