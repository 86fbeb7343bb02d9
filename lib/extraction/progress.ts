import { defined } from '../defined.ts';
import type { ExtractionMetric, MetricName } from '../observability/metric-names.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { type Extraction, subjectFields } from './record.ts';
import { type ChangeOutcome, type ExtractionStore, writeChange } from './store.ts';
import type { Change } from './transitions.ts';

/** Endings that the user or the caller brought about. Nobody who operates the service could have prevented them. */
const ownDoing: ReadonlySet<string> = new Set([
  'CREDENTIALS_WRONG',
  'CREDENTIALS_LOCKED',
  'REJECTED session-token-refused',
  'REJECTED invalid-request',
  'REJECTED credentials-refused-before',
]);

/**
 * Whether an extraction ended as it should: `well`, or by what its user or caller did. All else is a failure of the service,
 * the provider or the bank, and counts against the share that the alarms watch (docs/operations.md).
 *
 * @param outcome a status, followed by its reason if it has one: `REJECTED http-500`
 */
export const judgeOutcome = (outcome: string): 'well' | 'user' | 'failed' => {
  if (outcome === 'COMPLETED') return 'well';
  return ownDoing.has(outcome) ? 'user' : 'failed';
};

/** The status, followed by its reason if it has one. */
export const outcomeText = ({ status, reason }: { readonly status: string; readonly reason?: string }) =>
  reason === undefined ? status : `${status} ${reason}`;

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

/** Reports an outcome, a correction too. */
const reportOutcome = (record: Extraction, telemetry: Telemetry): void => {
  const { status, reason, settledAt } = record;
  const of = { record, time: settledAt, telemetry };
  const failed = judgeOutcome(outcomeText(record)) === 'failed' ? true : undefined;
  // A metric filter counts `failed` by bank (infra/constructs/observability/bank-alarms.ts).
  report('Extraction ended.', 'SecondsToOutcome', of, defined({ status, reason, failed }));
  if (failed) telemetry.count('OutcomeFailed', record);
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
  const facts = { extractionId, ...subjectFields(record), status, cause: codes.join(' and ') };
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
