import { logMessages } from '../../../lib/observability/log-messages.ts';
import type { Bounded, Deployment } from './deployment.ts';
import { type LoggedFields, logGroupsOf, logsClient, readFunctionLogs } from './logs.ts';
import { type MetricPoint, readMetrics } from './read-metric.ts';

/** A change of the rate, as the dispatcher logged it: why, and what it counted. */
export type RateChange = {
  readonly at: string;
  readonly judged: string;
  /** Absent: there is no limit any more. */
  readonly perSecond?: number;
  /** How many of the calls were refused or failed, from 0 to 1. */
  readonly share?: number;
  readonly refused?: number;
  readonly failed?: number;
};

/** What happened in so many seconds from `at` on. Undefined: nothing was counted. */
export type LinePeriod = {
  /** In milliseconds of the epoch. */
  readonly at: number;
  readonly waiting?: number | undefined;
  readonly started?: number | undefined;
  readonly refused?: number | undefined;
  readonly perSecond?: number | undefined;
};

/** Oldest first. */
export type LineHistory = {
  readonly periodSeconds: number;
  readonly periods: readonly LinePeriod[];
  readonly changes: readonly RateChange[];
};

const number = (value: unknown) => (typeof value === 'number' ? value : undefined);

export const parseRateChange = (fields: LoggedFields): RateChange | undefined => {
  const { timestamp, message, judged, perSecond, share, refused, failed } = fields;
  if (message !== logMessages.rateChanged || typeof timestamp !== 'string' || typeof judged !== 'string')
    return undefined;
  const numbers = Object.entries({ perSecond, share, refused, failed }).filter(
    ([, value]) => number(value) !== undefined,
  );
  return { at: timestamp, judged, ...Object.fromEntries(numbers) };
};

const readChanges = async (deployment: Deployment, since: Date): Promise<Bounded<RateChange>> =>
  readFunctionLogs(
    logsClient(deployment.client),
    await logGroupsOf(['dispatch-starts'], deployment),
    since,
    parseRateChange,
    `{ $.message = "${logMessages.rateChanged}" }`,
  );

const metrics = [
  { name: 'StartsInLine', statistic: 'Maximum' },
  // One for each start that the provider accepted.
  { name: 'SecondsToStart', statistic: 'SampleCount' },
  { name: 'ProviderBusy', statistic: 'Sum' },
  { name: 'StartRate', statistic: 'Maximum' },
] as const;

/** The line of starts since then, from metrics and the dispatcher's log. Throws the SDK's errors. */
export const readLineHistory = async (
  deployment: Deployment,
  {
    since,
    until,
    periodSeconds,
  }: { readonly since: Date; readonly until: Date; readonly periodSeconds: number },
): Promise<LineHistory> => {
  const periodMs = periodSeconds * 1_000;
  // CloudWatch begins its periods where the query does.
  const first = Math.floor(since.getTime() / periodMs) * periodMs;
  const [read, { items: changes }] = await Promise.all([
    readMetrics(deployment, metrics, { since: new Date(first), until, periodSeconds }),
    readChanges(deployment, new Date(first)),
  ]);
  const [waiting, started, refused, perSecond] = read.map(
    (points: readonly MetricPoint[]) => new Map(points.map(({ at, value }) => [at, value])),
  );
  const count = Math.max(1, Math.ceil((until.getTime() - first) / periodMs));
  const periods = Array.from({ length: count }, (_, index) => first + index * periodMs).map((at) => ({
    at,
    waiting: waiting?.get(at),
    started: started?.get(at),
    refused: refused?.get(at),
    perSecond: perSecond?.get(at),
  }));
  return {
    periodSeconds,
    periods,
    changes: changes.toSorted((one, other) => one.at.localeCompare(other.at)),
  };
};
