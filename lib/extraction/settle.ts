import type { ExtractionMetric } from '../observability/metric-names.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import type { Timings } from './deadlines.ts';
import { type Extraction, isTerminalStatus, type SettledBy } from './record.ts';
import { reportOutcome } from './report-progress.ts';
import { type ExtractionStore, writeChange } from './store.ts';
import { correctOutcome, markSettled, type ReportedOutcome } from './transitions.ts';

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
  const now = deps.now();
  const write = (transition: typeof markSettled) =>
    writeChange(deps.extractions, transition({ reported, settledBy: by, now, timings: deps.timings }));

  const settled = await write(markSettled);
  const isCorrection = settled.kind === 'lost' && settled.record?.status === 'TIMED_OUT';
  const outcome = isCorrection ? await write(correctOutcome) : settled;

  const { kind, record } = outcome;
  if (outcome.kind === 'written') {
    reportOutcome(outcome.record, deps.telemetry);
    for (const metric of [settledMetric[by], ...alsoCounts]) deps.telemetry.count(metric, reported);
    if (isCorrection) deps.telemetry.count('Corrected', reported);
  }
  if (kind === 'lost' && record !== undefined && isTerminalStatus(record.status)) {
    deps.telemetry.count('StatusDisagreement', reported);
  }
  return record;
};
