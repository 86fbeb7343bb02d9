import { applyChange } from './apply-change.ts';
import type { Observe, Observed } from './observed.ts';
import { type Extraction, isTerminalStatus, type SettledBy } from './record.ts';
import type { ExtractionStore } from './store.ts';
import type { Timings } from './timings.ts';
import { correct, type SettledFact, settle } from './transitions.ts';

const settledMetric: Record<SettledBy, Observed> = {
  webhook: 'SettledByWebhook',
  start: 'SettledByStart',
  reconcile: 'SettledByReconcile',
};

/**
 * Records how the provider says the task ended, whoever learned it first, and returns the row as it stands:
 * settled now, settled before, or undefined where the row is gone. After `TIMED_OUT` it is late truth and
 * replaces our outcome; a second, different word of the provider changes nothing and is counted. `alsoCounts` is
 * what it means besides, if it was this call that settled.
 */
export const settleBy = async (
  by: SettledBy,
  fact: SettledFact,
  deps: {
    readonly extractions: ExtractionStore;
    readonly now: () => Date;
    readonly timings: Pick<Timings, 'collectInMachine'>;
    readonly observe: Observe;
  },
  ...alsoCounts: readonly Observed[]
): Promise<Extraction | undefined> => {
  const now = deps.now();
  const write = (move: typeof settle) => applyChange(deps.extractions, move(fact, by, now, deps.timings));

  const settled = await write(settle);
  const late = settled.kind === 'lost' && settled.record?.status === 'TIMED_OUT';
  const outcome = late ? await write(correct) : settled;

  const { kind, record } = outcome;
  const mine = outcome.kind === 'done' && outcome.mine;
  if (mine) for (const observed of [settledMetric[by], ...alsoCounts]) deps.observe(observed);
  if (mine && late) deps.observe('LateTruth');
  if (kind === 'lost' && record !== undefined && isTerminalStatus(record.status)) {
    deps.observe('StatusDisagreement');
  }
  return record;
};
