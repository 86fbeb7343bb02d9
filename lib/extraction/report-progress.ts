import { defined } from '../defined.ts';
import type { MetricName } from '../observability/metric-names.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import type { Extraction } from './record.ts';

/**
 * Reports a time of an extraction: whose it is, and the seconds since the request. So the log shows which
 * entities are slow or fail, and no metric needs a dimension for each.
 */
const report = (
  message: string,
  metric: MetricName,
  { record, time, telemetry }: { record: Extraction; time: string | undefined; telemetry: Telemetry },
  facts: Readonly<Record<string, unknown>>,
): void => {
  const { extractionId, requestedAt } = record;
  const whose = record.method === 'consent' ? { product: record.product } : { entity: record.entity };
  const seconds = (Date.parse(time ?? '') - Date.parse(requestedAt)) / 1_000;
  telemetry.log(message, { extractionId, ...whose, ...facts, seconds });
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
};
