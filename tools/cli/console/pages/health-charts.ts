import { html } from 'hono/html';
import { type HourFigure, type Hours, hoursUntil } from '../../aws/read-hours.ts';
import type { HourOfSubject } from '../../health/read-health.ts';
import { formatSeconds } from '../../terminal/format-seconds.ts';
import { type Chart, type ChartSeries, showChart } from '../charts/draw-chart.ts';
import type { Html } from '../format-for-page.ts';
import type { Part, SubjectsReport } from '../sources/sources.ts';
import { showPart } from './icons-and-badges.ts';
import { focusOn, type Links } from './page-content-and-links.ts';

const hourMs = 3_600_000;
const day = 24;

const count = (value: number): string => Math.round(value).toLocaleString('en');

/** The ticks of an axis are round numbers of seconds. */
const duration = (value: number): string =>
  value < 300 ? `${Number(value.toPrecision(3))} s` : formatSeconds(value);

/** Of the day before, at the same hours: one line behind the bars of today. */
const dayBefore = (name: string, values: ChartSeries['values']): ChartSeries => ({
  name: `${name}, day before`,
  look: 'quiet',
  shape: 'step',
  values: values.slice(0, day),
});

const outcomes = {
  well: 'ended well',
  user: 'by the user',
  caller: 'by the caller',
  failed: 'failed',
} as const;
const looks = { well: 'good', user: 'mixed', caller: 'unknown', failed: 'bad' } as const;

const outcomeSeries = (hours: readonly HourOfSubject[], times: readonly number[]): readonly ChartSeries[] => {
  const byHour = Map.groupBy(hours, ({ hour }) => Math.floor(Date.parse(hour) / hourMs) * hourMs);
  const sum = (of: keyof typeof outcomes | 'ended') =>
    times.map((at) => byHour.get(at)?.reduce((total, one) => total + one[of], 0));
  return [
    ...(Object.keys(outcomes) as (keyof typeof outcomes)[]).map(
      (of): ChartSeries => ({
        name: outcomes[of],
        look: looks[of],
        shape: 'bar',
        values: sum(of).slice(day),
      }),
    ),
    dayBefore('all', sum('ended')),
  ];
};

/** The last 24 hours beside the day before, each hour a link to the list of those that ended in it. */
export const showHealthCharts = (
  { subjects, hours }: { readonly subjects: Part<SubjectsReport>; readonly hours: Part<Hours> },
  links: Links,
  now: Date,
): Html => {
  const times = hoursUntil(now);
  const shared = { times: times.slice(day), periodMs: hourMs } as const;
  const ofHour = (at: number, more = ''): string =>
    `${links.list()}?hour=${new Date(at).toISOString().slice(0, 13)}${more}${focusOn.result}`;
  const chart = (more: Omit<Chart, 'times' | 'periodMs'>): Html => showChart({ ...shared, ...more });
  const byMetrics = (all: Hours): Html => {
    const series = (
      figure: HourFigure,
      name: string,
      look: ChartSeries['look'],
      shape: ChartSeries['shape'],
    ) => ({
      ...{ name, look, shape },
      values: all[figure].slice(day),
    });
    return html`${chart({
      title: 'Time to start and to outcome',
      format: duration,
      hrefOf: ofHour,
      empty: 'No extraction was started within 24 hours. Here are p50 and p95 of each hour.',
      series: [
        series('outcomeP95', 'outcome p95', 'unknown', 'line'),
        series('outcomeP50', 'outcome p50', 'good', 'line'),
        series('startP95', 'start p95', 'bad', 'line'),
        series('startP50', 'start p50', 'open', 'line'),
        dayBefore('outcome p95', all.outcomeP95),
      ],
    })}${chart({
      title: 'Deliveries',
      format: count,
      hrefOf: () => links.deliveries(),
      empty: 'No delivery came within 24 hours. Here are those that were accepted and refused.',
      series: [
        series('accepted', 'accepted', 'good', 'bar'),
        series('refused', 'refused', 'bad', 'bar'),
        dayBefore('accepted', all.accepted),
      ],
    })}${chart({
      title: 'Starts and the line',
      format: count,
      hrefOf: () => links.line(),
      empty: 'No start was made within 24 hours. Here are those that were accepted, were refused and waited.',
      series: [
        series('started', 'started', 'good', 'bar'),
        series('busy', 'refused', 'bad', 'bar'),
        series('waiting', 'most that waited', 'open', 'line'),
        dayBefore('started', all.started),
      ],
    })}`;
  };
  return html`<div class="charts">${showPart(subjects, 'Outcomes', (report) =>
    chart({
      title: 'Outcomes',
      format: count,
      hrefOf: ofHour,
      empty: 'Nothing ended within 24 hours. Here are the outcomes of each hour.',
      series: outcomeSeries(report.hours, times),
    }),
  )}${showPart(hours, 'Times, deliveries and starts', byMetrics)}</div>
<p class="source">By hours in UTC, five minutes old at most. From the logs, and from metrics of CloudWatch. Repeated deliveries are not counted.</p>`;
};
