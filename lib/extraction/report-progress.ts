import { defined } from '../defined.ts';
import type { MetricName } from '../observability/metric-names.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import type { Extraction } from './record.ts';

/**
 * The entity of an extraction by credentials, or the product of one by consent. Each line about progress has it, so that the
 * log shows which entities are slow or fail, and no metric needs a dimension for each.
 */
export const subjectFields = (
  record: Extraction,
): { readonly entity: string } | { readonly product: string } =>
  record.method === 'consent' ? { product: record.product } : { entity: record.entity };

/** Endings that the user or the caller brought about. Nobody who operates the service could have prevented them. */
const ownDoing: ReadonlySet<string> = new Set([
  'CREDENTIALS_WRONG',
  'CREDENTIALS_LOCKED',
  'REJECTED session-token-refused',
  'REJECTED invalid-request',
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

/** Reports a start. Only the process that wrote it calls this, so that each is reported once. */
export const reportStart = (record: Extraction, telemetry: Telemetry): void =>
  report('Extraction started.', 'SecondsToStart', { record, time: record.startedAt, telemetry }, {});

/** Reports an outcome, a correction too. Only the process that wrote it calls this, so that each is reported once. */
export const reportOutcome = (record: Extraction, telemetry: Telemetry): void => {
  const { status, reason, settledAt } = record;
  const of = { record, time: settledAt, telemetry };
  report('Extraction ended.', 'SecondsToOutcome', of, defined({ status, reason }));
  if (judgeOutcome(outcomeText(record)) === 'failed') telemetry.count('OutcomeFailed', record);
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
export const reportErrorCodes = (record: Extraction, telemetry: Telemetry): void => {
  const codes = errorCodesOf(record);
  if (codes.length === 0) return;
  const { extractionId, status } = record;
  const facts = { extractionId, ...subjectFields(record), status, cause: codes.join(' and ') };
  telemetry.log('Error codes collected.', facts);
};
