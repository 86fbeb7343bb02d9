import type { Count, ExtractionMetric } from '../observability/metric-names.ts';
import { applyChange } from './apply-change.ts';
import type { Timings } from './deadlines.ts';
import { type Extraction, isTerminalStatus, type SettledBy } from './record.ts';
import type { ExtractionStore } from './store.ts';
import { correctOutcome, markSettled, type ReportedOutcome } from './transitions.ts';

const settledMetric: Record<SettledBy, ExtractionMetric> = {
  webhook: 'SettledByWebhook',
  start: 'SettledByStart',
  reconcile: 'SettledByReconcile',
};

/**
 * Records how the provider says the task ended, whoever learned it first, and returns the row as it stands:
 * settled now, settled before, or undefined where the row is gone. After `TIMED_OUT` it is a correction and
 * replaces our outcome; a second, different word of the provider changes nothing and is counted. `alsoCounts` is
 * what it means besides, if it was this call that settled.
 */
export const settle = async (
  by: SettledBy,
  fact: ReportedOutcome,
  deps: {
    readonly extractions: ExtractionStore;
    readonly now: () => Date;
    readonly timings: Pick<Timings, 'collectInMachine'>;
    readonly count: Count;
  },
  ...alsoCounts: readonly ExtractionMetric[]
): Promise<Extraction | undefined> => {
  const now = deps.now();
  const write = (transition: typeof markSettled) =>
    applyChange(deps.extractions, transition(fact, by, now, deps.timings));

  const settled = await write(markSettled);
  const late = settled.kind === 'lost' && settled.record?.status === 'TIMED_OUT';
  const outcome = late ? await write(correctOutcome) : settled;

  const { kind, record } = outcome;
  const mine = outcome.kind === 'done' && outcome.mine;
  if (mine) for (const metric of [settledMetric[by], ...alsoCounts]) deps.count(metric);
  if (mine && late) deps.count('Corrected');
  if (kind === 'lost' && record !== undefined && isTerminalStatus(record.status)) {
    deps.count('StatusDisagreement');
  }
  return record;
};
