import type { Deployment } from './deployment.ts';
import { readMetrics, type WantedMetric } from './read-metric.ts';

const hourMs = 3_600_000;

/** A day, and the day before it. */
const hours = 48;

/** Of deliveries, those that recorded a status. A repeated one is in the log alone. */
const accepted = ['SettledByWebhook', 'UnlinkedDelivery', 'DeliveryWithoutRecord'] as const;
const refused = [
  'WebhookTooLarge',
  'WebhookSignatureMissing',
  'WebhookSignatureMalformed',
  'WebhookSignatureMismatch',
  'WebhookUnreadable',
] as const;

const sums = (names: readonly WantedMetric['name'][]): readonly WantedMetric[] =>
  names.map((name) => ({ name, statistic: 'Sum' }));

/** The values of several metrics are one figure. */
const figures = {
  startP50: [{ name: 'SecondsToStart', statistic: 'p50' }],
  startP95: [{ name: 'SecondsToStart', statistic: 'p95' }],
  outcomeP50: [{ name: 'SecondsToOutcome', statistic: 'p50' }],
  outcomeP95: [{ name: 'SecondsToOutcome', statistic: 'p95' }],
  accepted: sums(accepted),
  refused: sums(refused),
  waiting: [{ name: 'StartsInLine', statistic: 'Maximum' }],
  started: [{ name: 'SecondsToStart', statistic: 'SampleCount' }],
  busy: [{ name: 'ProviderBusy', statistic: 'Sum' }],
} as const satisfies Readonly<Record<string, readonly WantedMetric[]>>;

export type HourFigure = keyof typeof figures;

/** Each figure of the last 48 hours, oldest first. Undefined is an hour without a value. */
export type Hours = Readonly<Record<HourFigure, readonly (number | undefined)[]>>;

/** The beginnings of the last 48 hours, the one that goes on last, in milliseconds of the epoch. */
export const hoursUntil = (now: Date): readonly number[] => {
  const last = Math.floor(now.getTime() / hourMs) * hourMs;
  return Array.from({ length: hours }, (_, index) => last - (hours - 1 - index) * hourMs);
};

/** An object with each figure, such as for a test. */
export const mapFigures = (valuesOf: (figure: HourFigure) => Hours[HourFigure]): Hours => {
  const names = Object.keys(figures) as HourFigure[];
  return Object.fromEntries(names.map((name) => [name, valuesOf(name)] as const)) as Record<
    HourFigure,
    Hours[HourFigure]
  >;
};

/** Throws the SDK's errors. */
export const readHoursOfMetrics = async (deployment: Deployment, now: Date): Promise<Hours> => {
  const times = hoursUntil(now);
  const wanted: readonly WantedMetric[] = Object.values(figures).flat();
  const period = { since: new Date(times[0] ?? 0), until: now, periodSeconds: 3_600 };
  const read = await readMetrics(deployment, wanted, period);
  const valuesOf = (metrics: readonly WantedMetric[]) => {
    const points = metrics.flatMap((metric) => read[wanted.indexOf(metric)] ?? []);
    const byHour = Map.groupBy(points, ({ at }) => at);
    return times.map((at) => byHour.get(at)?.reduce((sum, { value }) => sum + value, 0));
  };
  return mapFigures((name) => valuesOf(figures[name]));
};
