import { isOverdue } from '../../../../lib/extraction/deadlines.ts';
import { countBySubject, distinct, type Standing, startOf } from './select-extractions.ts';
import { type ConsoleSources, type Hold, readPart, valueIn } from './sources.ts';

/** One reading of what every page shows about the deployment, so that no two parts of a page contradict each other. */
export const readState = async (sources: ConsoleSources) => {
  const [holds, sweeps, queues, open, recent, rate] = await Promise.all([
    readPart(() => sources.holds()),
    readPart(() => sources.sweeps()),
    readPart(() => sources.queues()),
    readPart(() => sources.open()),
    readPart(() => sources.lastHour()),
    readPart(() => sources.rate()),
  ]);
  return { holds, sweeps, queues, open, recent, rate, sweepEveryMinutes: sources.sweepEveryMinutes };
};

export type DeploymentState = Readonly<Awaited<ReturnType<typeof readState>>>;

export const heldIn = ({ holds }: Pick<DeploymentState, 'holds'>): readonly Hold[] => valueIn(holds) ?? [];

export const standingAt = (state: DeploymentState, now: Date): Standing => {
  const lanes = valueIn(state.rate)?.lanes ?? [];
  const inLine = new Set(lanes.flatMap(({ waiting }) => waiting.map(({ extractionId }) => extractionId)));
  return {
    isLate: (record) => isOverdue(record, now, state.sweepEveryMinutes),
    isInLine: ({ extractionId }) => inLine.has(extractionId),
  };
};

/** What ended in the last hour, by the bank or, for consents, the product. */
export const countLastHour = ({ open, recent }: DeploymentState, now: Date) => {
  const since = startOf('1h', now).toISOString();
  const records = distinct([...(valueIn(recent)?.items ?? []), ...(valueIn(open) ?? [])]);
  return countBySubject(records.filter(({ settledAt = '' }) => settledAt >= since));
};
