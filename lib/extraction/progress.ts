import { defined } from '../defined.ts';
import type { ExtractionMetric, MetricName } from '../observability/metric-names.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import type { Timings } from './deadlines.ts';
import { judgeOutcome, outcomeText } from './judge-outcome.ts';
import { type Extraction, isTerminalStatus, type SettledBy, subjectFields } from './record.ts';
import { type ChangeOutcome, type ExtractionStore, writeChange } from './store.ts';
import { type Change, correctOutcome, markSettled, type ReportedOutcome } from './transitions.ts';

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
  // The write is done, so that a damaged time may fail nothing.
  if (!Number.isNaN(seconds)) telemetry.count(metric, { extractionId, value: seconds });
};

/** Reports a start. */
const reportStart = (record: Extraction, telemetry: Telemetry): void =>
  report('Extraction started.', 'SecondsToStart', { record, time: record.startedAt, telemetry }, {});

/** When the outcome was recorded. `health` counts at this time, and its query of the logs can compare only the number. */
const settledFields = ({ settledAt }: Extraction) => {
  const settledMs = Date.parse(settledAt ?? '');
  return Number.isNaN(settledMs) ? {} : { settledAt, settledMs };
};

/** Reports an outcome, a correction too. */
const reportOutcome = (record: Extraction, telemetry: Telemetry): void => {
  const { status, reason, settledAt } = record;
  const of = { record, time: settledAt, telemetry };
  const failed = judgeOutcome(outcomeText(record)) === 'failed' ? true : undefined;
  // A metric filter counts `failed` by bank (infra/constructs/observability/bank-alarms.ts).
  report(
    'Extraction ended.',
    'SecondsToOutcome',
    of,
    defined({ status, reason, failed, ...settledFields(record) }),
  );
  if (failed) telemetry.count('OutcomeFailed', record);
};

/** Takes back the report of an outcome that was corrected, so that its extraction counts once. */
const reportCorrected = (before: Extraction, telemetry: Telemetry): void => {
  const { extractionId, status, reason } = before;
  const facts = { extractionId, ...subjectFields(before), ...defined({ status, reason }) };
  telemetry.log('Outcome corrected.', { ...facts, ...settledFields(before) });
};

/** The error codes of the actions that failed, each once, in the order of the alphabet. `unknown` stands for none. */
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

/** Reports why actions failed, once the results are collected: the outcome comes without their codes. */
const reportErrorCodes = (record: Extraction, telemetry: Telemetry): void => {
  const codes = errorCodesOf(record);
  if (codes.length === 0) return;
  const { extractionId, status } = record;
  const cause = codes.join(' and ');
  const facts = { extractionId, ...subjectFields(record), status, cause, ...settledFields(record) };
  telemetry.log('Error codes collected.', facts);
};

/**
 * Writes a change, and reports the start, the outcome or the results that it brings. Only the process that wrote it reports it
 * and counts `metrics`, so that each is reported once. Throws what the store throws.
 */
export const writeProgress = async (
  change: Change,
  deps: { readonly extractions: Pick<ExtractionStore, 'apply'>; readonly telemetry: Telemetry },
  ...metrics: readonly ExtractionMetric[]
): Promise<ChangeOutcome> => {
  const outcome = await writeChange(deps.extractions, change);
  if (outcome.kind !== 'written') return outcome;
  const { record } = outcome;
  if (change.set.startedAt !== undefined) reportStart(record, deps.telemetry);
  if (change.set.settledAt !== undefined) reportOutcome(record, deps.telemetry);
  if (change.set.actionResults !== undefined) reportErrorCodes(record, deps.telemetry);
  for (const metric of metrics) deps.telemetry.count(metric, record);
  return outcome;
};

const settledMetric: Record<SettledBy, ExtractionMetric> = {
  webhook: 'SettledByWebhook',
  start: 'SettledByStart',
  reconcile: 'SettledByReconcile',
};

/**
 * Records the final status that the provider reported. Returns the record as it then is, or undefined if there is none.
 * After `TIMED_OUT` this is a correction, which replaces the outcome. If the record already has another final status, that
 * one stays and the disagreement is counted. `alsoCounts` are counted only by the call that settled.
 */
export const settle = async (
  by: SettledBy,
  reported: ReportedOutcome,
  deps: {
    readonly extractions: ExtractionStore;
    readonly now: () => Date;
    readonly timings: Pick<Timings, 'pollEvery'>;
    readonly telemetry: Telemetry;
  },
  ...alsoCounts: readonly ExtractionMetric[]
): Promise<Extraction | undefined> => {
  const decision = { reported, settledBy: by, now: deps.now(), timings: deps.timings };
  const metrics = [settledMetric[by], ...alsoCounts];
  const settled = await writeProgress(markSettled(decision), deps, ...metrics);
  const timedOut =
    settled.kind === 'lost' && settled.record?.status === 'TIMED_OUT' ? settled.record : undefined;
  const { kind, record } =
    timedOut === undefined
      ? settled
      : await writeProgress(correctOutcome(decision), deps, ...metrics, 'Corrected');
  if (timedOut !== undefined && kind !== 'lost') reportCorrected(timedOut, deps.telemetry);
  if (kind === 'lost' && record !== undefined && isTerminalStatus(record.status)) {
    deps.telemetry.count('StatusDisagreement', reported);
  }
  return record;
};
