import { type Judgement, judgeOutcome } from '../../../lib/extraction/advice.ts';
import { productTypes } from '../../../lib/provider/vocabulary.ts';
import type { Bounded } from '../aws/deployment.ts';
import type { Period } from '../aws/read-log-lines.ts';
import type { ProgressRow } from './progress-rows.ts';

/** What `health` reads of a deployment: the rows of a period. Throws the SDK's errors. */
export type HealthSource = (
  period: Period,
  options?: { readonly byHour?: boolean },
) => Promise<Bounded<ProgressRow>>;

/** How often something was the cause, such as an error code, or a status and its reason. */
export type Cause = { readonly cause: string; readonly count: number };

/** In seconds. Half of them took `p50` at most. */
export type Times = { readonly p50: number; readonly p95: number };

/** What the log reports of one entity or product in one period. */
export type Figures = {
  readonly requested: number;
  readonly ended: number;
  /** `COMPLETED`. */
  readonly well: number;
  /** Ended by what their user did, such as a wrong password, and by what their caller did. */
  readonly user: number;
  readonly caller: number;
  readonly failed: number;
  /** When the first of these failed, in ISO 8601. */
  readonly failedSince?: string;
  /** Of what failed, the most frequent first. */
  readonly causes: readonly Cause[];
  readonly toStart?: Times;
  /** Of `COMPLETED` ones, as a failure can be fast. */
  readonly toOutcome?: Times;
};

const periodNames = ['lastHour', 'hourBefore', 'lastDay', 'dayBefore'] as const;
export type PeriodName = (typeof periodNames)[number];

/** How a period differs from the one before, beyond what chance explains. */
export type Change = 'worse' | 'better' | 'slower' | 'same';

export type SubjectHealth = {
  readonly subject: string;
  readonly kind: 'entity' | 'product';
  readonly hourChange: Change;
  readonly dayChange: Change;
} & Readonly<Record<PeriodName, Figures>>;

export type HealthReport = {
  /** The worst first. */
  readonly subjects: readonly SubjectHealth[];
  readonly complete: boolean;
};

const hour = 3_600_000;

const periodsOf = (now: Date): Readonly<Record<PeriodName, Period>> => {
  const ago = (hours: number): string => new Date(now.getTime() - hours * hour).toISOString();
  const span = (begin: number, end: number): Period => ({ from: ago(begin), to: ago(end) });
  return { lastHour: span(1, 0), hourBefore: span(2, 1), lastDay: span(24, 0), dayBefore: span(48, 24) };
};

const timesOf = (row: ProgressRow | undefined): Times | undefined =>
  row?.p50 === undefined || row.p95 === undefined ? undefined : { p50: row.p50, p95: row.p95 };

const total = (rows: readonly ProgressRow[]): number => rows.reduce((sum, { count }) => sum + count, 0);

/**
 * Why they failed. `FAILED` and `PARTIAL` come without error codes, which a line of their own has once the results are
 * collected. So the codes stand for as many of these outcomes, and the status for the rest.
 */
const causesOf = (failed: readonly ProgressRow[], codes: readonly ProgressRow[]): readonly Cause[] => {
  let explained = total(codes);
  const statuses = failed.map(({ what, count }) => {
    const isExplained = what === 'FAILED' || what === 'PARTIAL' ? Math.min(explained, count) : 0;
    explained -= isExplained;
    return { cause: what, count: count - isExplained };
  });
  return [...codes.map(({ what, count }) => ({ cause: what, count })), ...statuses]
    .filter(({ count }) => count > 0)
    .toSorted((one, other) => other.count - one.count || one.cause.localeCompare(other.cause));
};

const figuresOf = (rows: readonly ProgressRow[]): Figures => {
  const of = (step: ProgressRow['step']) => rows.filter((row) => row.step === step);
  // An outcome that was corrected is none. Its extraction counts at the correction.
  const corrected = new Map(of('corrected').map(({ what, count }) => [what, count]));
  const ended = of('ended')
    .map((row) => ({ ...row, count: row.count - (corrected.get(row.what) ?? 0) }))
    .filter(({ count }) => count > 0);
  const judged = (judgement: Judgement) => ended.filter(({ what }) => judgeOutcome(what) === judgement);
  const failed = judged('failed');
  const failedSince = failed.flatMap(({ first }) => first ?? []).toSorted()[0];
  const [toStart, toOutcome] = [timesOf(of('started')[0]), timesOf(judged('well')[0])];
  return {
    requested: total(of('requested')),
    ended: total(ended),
    well: total(judged('well')),
    user: total(judged('user')),
    caller: total(judged('caller')),
    failed: total(failed),
    ...(failedSince !== undefined && { failedSince }),
    causes: causesOf(failed, of('codes')),
    ...(toStart && { toStart }),
    ...(toOutcome && { toOutcome }),
  };
};

/** Of a normal distribution, for 95 %. */
const z = 1.96;

/**
 * Between what shares of failures the true one lies, for 95 % of samples. Of 1 failure of 1 it is 0.21 to 1, of 10 of 10 it
 * is 0.72 to 1, so that few extractions show little.
 * https://en.wikipedia.org/wiki/Binomial_proportion_confidence_interval#Wilson_score_interval
 */
export const shareOfFailures = ({ failed, ended }: Pick<Figures, 'failed' | 'ended'>) => {
  if (ended === 0) return { least: 0, most: 1 };
  const share = failed / ended;
  const middle = share + z ** 2 / (2 * ended);
  const half = z * Math.sqrt((share * (1 - share)) / ended + z ** 2 / (4 * ended ** 2));
  const scale = 1 + z ** 2 / ended;
  return { least: (middle - half) / scale, most: (middle + half) / scale };
};

/** Fewer times say little about their percentiles. */
const fewestTimes = 5;

const changeOf = (now: Figures, before: Figures): Change => {
  const [share, shareBefore] = [shareOfFailures(now), shareOfFailures(before)];
  if (share.least > shareBefore.most) return 'worse';
  if (share.most < shareBefore.least) return 'better';
  const enough = Math.min(now.well, before.well) >= fewestTimes;
  const isSlower = (now.toOutcome?.p95 ?? 0) > 2 * (before.toOutcome?.p95 ?? Number.POSITIVE_INFINITY);
  return enough && isSlower ? 'slower' : 'same';
};

/** How many failed, and how surely: 6 of 20 rank above 1 of 1, and 5 of 5 above 6 of 100. */
const weightOf = (figures: Figures): number => figures.failed * shareOfFailures(figures).least;

/** The worst first, by the last hour, then by the last day. */
const byTrouble = (one: SubjectHealth, other: SubjectHealth): number => {
  const differences = (['lastHour', 'lastDay'] as const).map(
    (period) => weightOf(other[period]) - weightOf(one[period]),
  );
  return (
    differences.find((difference) => difference !== 0) ??
    (other.lastDay.requested - one.lastDay.requested || one.subject.localeCompare(other.subject))
  );
};

const isProduct = (subject: string): boolean => (productTypes as readonly string[]).includes(subject);

/** How extractions of an entity or product ended in an hour. */
export type HourOfSubject = Pick<Figures, 'ended' | 'well' | 'user' | 'caller' | 'failed'> & {
  readonly subject: string;
  /** Its beginning, in ISO 8601. */
  readonly hour: string;
};

/** The hours of the last two days in which something ended. Throws as the source. */
export const readHours = async (source: HealthSource, now: Date): Promise<readonly HourOfSubject[]> => {
  const { lastDay, dayBefore } = periodsOf(now);
  const { items } = await source({ from: dayBefore.from, to: lastDay.to }, { byHour: true });
  const byHour = Map.groupBy(items, ({ subject, hour: begin = '' }) => JSON.stringify([subject, begin]));
  return [...byHour.values()].flatMap((rows) => {
    const [{ subject = '', hour: begin = '' } = {}] = rows;
    const { ended, well, user, caller, failed } = figuresOf(rows);
    return ended === 0 ? [] : [{ subject, hour: begin, ended, well, user, caller, failed }];
  });
};

/** Reads four periods, and compares them. Throws as the source. */
export const readHealth = async (source: HealthSource, now: Date): Promise<HealthReport> => {
  const periods = periodsOf(now);
  const read = await Promise.all(
    periodNames.map(async (name) => ({ name, ...(await source(periods[name])) })),
  );
  const subjects = new Set(read.flatMap(({ items }) => items.map(({ subject }) => subject)));
  const healthOf = (subject: string): SubjectHealth => {
    const figures = Object.fromEntries(
      read.map(({ name, items }) => [name, figuresOf(items.filter((row) => row.subject === subject))]),
    ) as Record<PeriodName, Figures>;
    return {
      subject,
      kind: isProduct(subject) ? 'product' : 'entity',
      hourChange: changeOf(figures.lastHour, figures.hourBefore),
      dayChange: changeOf(figures.lastDay, figures.dayBefore),
      ...figures,
    };
  };
  return {
    subjects: [...subjects].map(healthOf).toSorted(byTrouble),
    complete: read.every(({ complete }) => complete),
  };
};
