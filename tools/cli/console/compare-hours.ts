import type { MetricPoint, MetricQuery } from '../aws/read-metric.ts';

const hour = 3_600_000;

/** The hours that are compared. Each began and ended so many hours ago. */
const comparedHours = [1, 2, 25].map((begin) => ({ begin, end: begin - 1 }));

/** When the earliest of them began. */
export const comparedSince = (now: Date): Date =>
  new Date(now.getTime() - Math.max(...comparedHours.map(({ begin }) => begin)) * hour);

/** The last hour, the one before it, and the same hour a day ago. Undefined is an hour without any value. */
export const compareHours = (
  points: readonly MetricPoint[],
  statistic: MetricQuery['statistic'],
  now: Date,
): readonly (number | undefined)[] =>
  comparedHours.map(({ begin, end }) => {
    const values = points.flatMap(({ at, value }) => {
      const age = now.getTime() - at;
      return age > end * hour && age <= begin * hour ? [value] : [];
    });
    if (values.length === 0) return undefined;
    return statistic === 'Sum' ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values);
  });
