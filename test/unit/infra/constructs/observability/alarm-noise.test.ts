import { expect, test } from 'vitest';
import { markdownTable } from '../../../../bench/markdown-table.ts';
import { randomOf } from '../../../../support/data/random.ts';
import { propertiesOf, synthesize } from '../../synth.ts';
import { type Alarm, queriesOf } from './watched-metrics.ts';

/*
 * Runs the deployed alarms over a year of a mix of banks, by periods of five minutes. Their windows slide by five minutes, where those
 * of CloudWatch slide by one.
 */

const periodMinutes = 5;
const periodsOfDay = (24 * 60) / periodMinutes;
const periods = 365 * periodsOfDay;

/** Ten banks, with shares of 1, 1/2, 1/3 and so on. The alarm is on the fifth, with 7 % of all. */
const weights = Array.from({ length: 10 }, (_, index) => 1 / (index + 1));
const shares = weights.map((weight) => weight / weights.reduce((sum, one) => sum + one, 0));
const watched = 4;

/** Of all extractions, by chance. A real failure replaces one of them. */
const chances = {
  failed: 0.01,
  unconfirmed: 1 / 10_000,
  notStarted: 1 / 50_000,
  abandoned: 1 / 20_000,
  missed: 1 / 100_000,
  /** Of deliveries, answers after 3 s. */
  slow: 1 / 2_000,
};
type Chances = typeof chances;

/** Once a week, a bank fails one extraction in ten for 20 minutes. Nobody needs to know. */
const hiccup = { everyPeriods: 7 * periodsOfDay, periods: 4, failed: 0.1 };

/** What a period counts. Metrics by bank have its number. */
type Counts = Readonly<Record<string, number>>;

const createWorld = (perDay: number, seed: number) => {
  const random = randomOf(seed);
  const poisson = (mean: number): number => {
    if (mean > 30) {
      const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
      return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal));
    }
    const limit = Math.exp(-mean);
    let count = 0;
    for (let product = random.next(); product > limit; product *= random.next()) count += 1;
    return count;
  };
  /** By day more than by night, and at weekends half. */
  const rateAt = (period: number): number => {
    const hour = ((period % periodsOfDay) * 24) / periodsOfDay;
    const rhythm = 1 + 0.8 * Math.sin((2 * Math.PI * (hour - 8)) / 24);
    const isWeekend = Math.floor(period / periodsOfDay) % 7 >= 5;
    return (perDay / periodsOfDay) * rhythm * (isWeekend ? 0.5 : 1.2);
  };
  return (period: number, real: Partial<Chances> = {}, failingBank?: number): Counts => {
    const its = { ...chances, ...real };
    const counts: Record<string, number> = {};
    let [ended, failed] = [0, 0];
    for (const [bank, share] of shares.entries()) {
      const hasHiccup = (period + bank * 197) % hiccup.everyPeriods < hiccup.periods;
      const ofBank = poisson(rateAt(period) * share);
      const chance = bank === failingBank ? 1 : Math.max(its.failed, hasHiccup ? hiccup.failed : 0);
      const failedOfBank = Math.min(ofBank, poisson(ofBank * chance));
      if (bank === watched) Object.assign(counts, { BankEnded: ofBank, BankFailed: failedOfBank });
      ended += ofBank;
      failed += failedOfBank;
    }
    const unconfirmed = poisson(ended * its.unconfirmed);
    const slow = poisson(ended * its.slow);
    return {
      ...counts,
      SecondsToOutcome: ended,
      OutcomeFailed: failed,
      Collected: ended,
      SettledByWebhook: ended,
      Unconfirmed: unconfirmed,
      NotStarted: poisson(ended * its.notStarted),
      EarlyDelivery: 0,
      // Every second task whose start call got no answer runs, and is delivered.
      UnlinkedDelivery: poisson(unconfirmed / 2),
      SettledByStart: 0,
      CollectionAbandoned: poisson(ended * its.abandoned),
      WebhookMissed: poisson(ended * its.missed),
      Latency: slow > 0 && slow >= ended / 100 ? 4_000 : 500,
    };
  };
};

/** Whether the alarm is on in each period. `from` is the first that is evaluated. */
const statesOf = (alarm: Alarm, counts: readonly Counts[]): readonly boolean[] => {
  const queries = queriesOf(alarm);
  const expression = queries.find(({ Expression }) => Expression !== undefined)?.Expression;
  const metrics = queries.flatMap(({ Id, MetricStat }) => (MetricStat ? [{ Id, ...MetricStat }] : []));
  const seconds = metrics[0]?.Period ?? Number(alarm.Period);
  const length = seconds / 60 / periodMinutes;
  const isWholeHours = alarm.EvaluationWindow !== undefined;
  // Metric math without AND is an expression of JavaScript.
  const evaluate = expression && new Function('IF', ...metrics.map(({ Id }) => Id), `return ${expression}`);
  const choose = (condition: boolean, yes: number, no: number) => (condition ? yes : no);
  const sums = metrics.map(() => 0);
  const breaching = counts.map((_, at) => {
    for (const [index, { Metric }] of metrics.entries()) {
      const add = counts[at]?.[Metric.MetricName] ?? 0;
      sums[index] = (sums[index] ?? 0) + add - (counts[at - length]?.[Metric.MetricName] ?? 0);
    }
    if (isWholeHours && (at + 1) % length !== 0) return undefined;
    const value = evaluate ? Number(evaluate(choose, ...sums)) : counts[at]?.[String(alarm.MetricName)];
    return (value ?? 0) >= Number(alarm.Threshold);
  });
  const needed = Number(alarm.EvaluationPeriods) * (evaluate ? 1 : length);
  let [last, inRow] = [false, 0];
  return breaching.map((one) => {
    if (one === undefined) return last;
    inRow = one ? inRow + 1 : 0;
    last = inRow >= needed;
    return last;
  });
};

const { template } = synthesize({ watchedEntities: 'fifth-bank' });
const alarms = propertiesOf(template, 'AWS::CloudWatch::Alarm');
const named = (id: string): Alarm => {
  const found = alarms.find(({ AlarmName }) => AlarmName === `Cosecha-prod-${id}`);
  if (found === undefined) throw new Error(`There is no alarm ${id}.`);
  return found;
};

/** An alarm, or all windows of a composite one, and what really happens. */
const cases: readonly (readonly [
  id: string,
  what: string,
  real: Partial<Chances>,
  windows?: readonly string[] | undefined,
  failingBank?: number,
])[] = [
  ['outcomes-failing-fast', 'every extraction fails', { failed: 1 }, ['over-60min', 'over-5min']],
  ['outcomes-failing-slowly', '40 % fail', { failed: 0.4 }, ['over-360min', 'over-30min']],
  ['bank-failing-fifth-bank', 'every extraction of the bank fails', {}, undefined, watched],
  ['unconfirmed', '5 % of starts get no answer', { unconfirmed: 0.05 }],
  ['orphan-deliveries', 'the same', { unconfirmed: 0.05 }],
  ['not-started', '20 % are not started', { notStarted: 0.2 }],
  ['results-abandoned', '5 % of results are abandoned', { abandoned: 0.05 }],
  ['webhooks-missed', 'half of the webhooks are lost', { missed: 0.5 }],
  ['webhook-slow', '5 % of answers take 4 s', { slow: 0.05 }],
];

const isOn = (index: number, counts: readonly Counts[]): readonly boolean[] => {
  const [id = '', , , windows] = cases[index] ?? [];
  const parts = windows === undefined ? [id] : windows.map((window) => `${id}-${window}`);
  const states = parts.map((part) => statesOf(named(part), counts));
  return counts.map((_, at) => states.every((one) => one[at]));
};

const beginnings = (states: readonly boolean[]): number =>
  states.filter((on, at) => on && !states[at - 1]).length;

/** The median of the minutes to the alarm, over days at noon, or undefined where most of them see none within six hours. */
const minutesTo = (index: number, perDay: number): number | undefined => {
  const [, , real, , failingBank] = cases[index] ?? [];
  const within = 72;
  const minutes = Array.from({ length: 25 }, (_, trial) => {
    const world = createWorld(perDay, 1_000 + trial);
    const begin = trial * 11 * periodsOfDay + periodsOfDay / 2;
    // Six hours before it, for the longest window.
    const counts = Array.from({ length: 2 * within }, (__, at) =>
      at < within ? world(begin + at) : world(begin + at, real, failingBank),
    );
    const at = isOn(index, counts).findIndex((on, position) => on && position >= within);
    return at === -1 ? Number.POSITIVE_INFINITY : (at - within + 1) * periodMinutes;
  }).toSorted((one, other) => one - other);
  const median = minutes[12];
  return median === undefined || median === Number.POSITIVE_INFINITY ? undefined : median;
};

test('alarm-noise.txt has how often alarms start by chance, and how soon after a real failure', async () => {
  const volumes = [1_000, 100_000, 1_000_000];
  const columns = volumes.map((perDay) => {
    const world = createWorld(perDay, 1);
    const year = Array.from({ length: periods }, (_, period) => world(period));
    return cases.map((_, index) => {
      const falseAMonth = beginnings(isOn(index, year)) / 12;
      const minutes = minutesTo(index, perDay);
      return {
        falseAMonth,
        cell: `${falseAMonth.toFixed(1)}, ${minutes === undefined ? 'none' : `${minutes} min`}`,
      };
    });
  });
  const table = markdownTable([
    ['alarm', 'a real failure', '1,000 a day', '100,000 a day', '1 M a day'],
    ...cases.map(([id, what], index) => [
      `\`${id.replace('fifth-bank', '<entity>')}\``,
      what,
      ...columns.map((cells) => cells[index]?.cell ?? ''),
    ]),
  ]);
  for (const cells of columns) for (const { falseAMonth } of cells) expect(falseAMonth).toBeLessThan(4);
  await expect(`${table}\n`).toMatchFileSnapshot('./alarm-noise.txt');
}, 120_000);
