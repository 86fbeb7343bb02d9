import type { Resource } from '../../synth.ts';

/** The properties of an alarm in a template. */
export type Alarm = Resource['Properties'];

export type Watched = {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions: readonly { readonly Name: string; readonly Value: unknown }[];
};

type Query = {
  readonly Id: string;
  readonly Expression?: string;
  readonly MetricStat?: { readonly Metric: Watched; readonly Period: number; readonly Stat: string };
};

/** The metric math of an alarm, if it has any. */
export const queriesOf = (alarm: Alarm | undefined) => (alarm?.Metrics ?? []) as readonly Query[];

/** The metrics of an alarm, direct or in metric math. */
export const watchedBy = (alarm: Alarm | undefined): readonly Watched[] => {
  const queries = queriesOf(alarm);
  if (queries.length === 0) return [alarm as unknown as Watched];
  return queries.flatMap(({ MetricStat }) => MetricStat?.Metric ?? []);
};
