import { html } from 'hono/html';
import { type HealthReport, type SubjectHealth, shareOfFailures } from '../../health/compare-periods.ts';
import { describeCauses, describeChange, describeTimes } from '../../health/print-health.ts';
import { describeCause } from '../../terminal/describe-breaker.ts';
import { formatSeconds } from '../../terminal/format-seconds.ts';
import type { ConsoleAction } from '../actions/actions.ts';
import { ago, clock, type Html, plural, shown, withCode } from '../format-for-page.ts';
import {
  type AlarmLine,
  type Bounded,
  type Breaker,
  type ConsoleSources,
  type FindingLine,
  type QueueLine,
  readPart,
  type SweepLine,
  type Trend,
  valueIn,
} from '../sources/sources.ts';
import { type HourSummary, summarizeHours } from '../sources/summarize-hours.ts';
import { showActions } from './action-pages.ts';
import type { Content, Links } from './content.ts';
import { type DeploymentState, heldIn } from './deployment-state.ts';
import { icon, showPart } from './parts.ts';

const hour = 3_600_000;

const readParts = async (sources: ConsoleSources, state: DeploymentState, now: Date) => {
  const [findings, alarms, trends, subjects, hours] = await Promise.all([
    // The doctor's own check of the breakers may be a minute older than what this page says of them.
    readPart(async () => (await sources.findings()).filter(({ id }) => id !== 'breakers')),
    readPart(() => sources.alarms()),
    readPart(() => sources.trends()),
    readPart(() => sources.subjects()),
    readPart(async () => {
      const { items, complete } = await sources.recent(new Date(now.getTime() - 24 * hour));
      return { hours: summarizeHours(items).slice(0, 24), complete };
    }),
  ]);
  return { ...state, findings, alarms, trends, subjects, hours };
};

type Parts = Readonly<Awaited<ReturnType<typeof readParts>>>;

const headline = (parts: Parts): string => {
  const held = heldIn(parts).length > 0 ? 'Calls to the provider are held. ' : '';
  return `${held}${describeFailing(parts)}${describeChecks(parts)}`;
};

/** Those of which most extractions of the last hour surely fail. */
const describeFailing = ({ subjects }: Parts): string => {
  const all = valueIn(subjects)?.subjects ?? [];
  const failing = all.filter(({ lastHour }) => shareOfFailures(lastHour).least >= 0.5);
  const [worst] = failing;
  if (worst === undefined) return '';
  const others = failing.length === 1 ? '' : ` and ${plural(failing.length - 1, 'other')}`;
  return `Most extractions at ${shown(worst.subject, 60)}${others} fail. `;
};

const describeChecks = ({ findings, alarms }: Parts): string => {
  const failed = valueIn(findings)?.filter(({ result }) => result === 'failed').length;
  const alarming = valueIn(alarms)?.filter(({ state }) => state === 'ALARM').length;
  if (failed === undefined || alarming === undefined) return 'Not everything could be checked.';
  if (failed + alarming === 0) return 'All checks passed, and no alarm is in ALARM.';
  const parts = [
    failed === 0 ? [] : `${plural(failed, 'check')} failed`,
    alarming === 0 ? [] : `${plural(alarming, 'alarm is', 'alarms are')} in ALARM`,
  ];
  return `${parts.flat().join(', and ')}.`;
};

const marks = {
  passed: { mark: 'check', style: 'good' },
  failed: { mark: 'cross', style: 'bad' },
  skipped: { mark: 'dot', style: 'none' },
} as const;

const showFindings = (findings: readonly FindingLine[]): Html => {
  const rank = { failed: 0, skipped: 1, passed: 2 } as const;
  const sorted = findings.toSorted((one, other) => rank[one.result] - rank[other.result]);
  return html`<ul class="findings">${sorted.map((finding) => {
    const { mark, style } = marks[finding.result];
    const remedy =
      finding.result === 'failed' ? html`<p class="remedy">→ ${withCode(finding.remedy, 600)}</p>` : '';
    return html`<li><span class="status ${style}">${icon(mark)}</span><div><span class="hidden">${finding.result}: </span>${withCode(finding.message, 400)}${remedy}</div></li>`;
  })}</ul>
<p class="source">The checks of <code>cosecha doctor</code>. Two of them it makes only there: a delivery with a wrong signature, which is counted, and a login at the provider.</p>`;
};

/** The description of an alarm ends with the address of its runbook entry. */
const describeAlarm = (description: string): Html => {
  const [, text = description, address] = /^(.*?)\s*(https?:\/\/\S+)$/s.exec(description) ?? [];
  if (address === undefined) return html`${shown(text, 400)}`;
  return html`${shown(text, 400)} <a href="${address}" rel="noreferrer" target="_blank">Runbook entry</a>`;
};

const showAlarms = (alarms: readonly AlarmLine[], now: Date): Html => {
  const alarming = alarms.filter(({ state }) => state === 'ALARM');
  const without = alarms.filter(({ state }) => state === 'INSUFFICIENT_DATA').length;
  const rest = html`<p class="source">${plural(alarms.length, 'alarm')}, of which ${without} have no data yet. From CloudWatch.</p>`;
  if (alarming.length === 0) return html`<p>No alarm is in ALARM.</p>${rest}`;
  return html`<ul class="findings">${alarming.map(
    ({ name, since, description = '' }) =>
      html`<li><span class="status bad">${icon('alert')}</span><div><strong>${shown(name)}</strong>${
        since === undefined ? '' : html` <span class="quiet">since ${ago(since, now)}</span>`
      }<p class="remedy">${describeAlarm(description)}</p></div></li>`,
  )}</ul>${rest}`;
};

const breakerAppearances = {
  closed: { mark: 'check', style: 'good', text: 'pass' },
  'half-open': { mark: 'half', style: 'mixed', text: 'are held: the next call tests the provider' },
  open: { mark: 'cross', style: 'bad', text: 'are held' },
  paused: { mark: 'pause', style: 'bad', text: 'are paused by an operator' },
} as const;

const showBreakers = (breakers: readonly Breaker[], now: Date): Html =>
  html`<ul class="findings">${breakers.map(({ name, state, since, until, reason, cause }) => {
    const { mark, style, text } = breakerAppearances[state];
    const why = state === 'open' ? `: ${describeCause(cause)}` : '';
    const times = [
      since === undefined ? '' : html` <span class="quiet">since ${clock(since, now)}</span>`,
      until === undefined ? '' : html` <span class="quiet">· next try ${ago(until, now)}</span>`,
      reason === undefined ? '' : html`<p class="remedy">${shown(reason, 200)}</p>`,
    ];
    return html`<li><span class="status ${style}">${icon(mark)}</span><div><strong>${name}</strong> ${text}${why}${times}</div></li>`;
  })}</ul>`;

const showQueues = (queues: readonly QueueLine[]): Html => html`
<table class="rows narrow"><caption class="hidden">Queues</caption>
<thead><tr><th scope="col">Queue</th><th scope="col">Waiting</th><th scope="col">Delayed</th><th scope="col">In flight</th></tr></thead>
<tbody>${queues.map(
  ({ name, waiting, later, inFlight }) =>
    html`<tr><th data-label="Queue" scope="row">${name}</th><td data-label="Waiting">${waiting.toLocaleString('en')}</td><td data-label="Delayed">${later.toLocaleString('en')}</td><td data-label="In flight">${inFlight.toLocaleString('en')}</td></tr>`,
)}</tbody></table>
<p class="source">SQS counts approximately.</p>`;

const showSweeps = ({ items }: Bounded<SweepLine>, now: Date): Html => {
  const [last] = items;
  if (last === undefined) return html`<p class="late">No sweep finished within an hour.</p>`;
  const failed = items.reduce((sum, sweep) => sum + sweep.failed, 0);
  return html`<p>The last sweep finished ${ago(last.at, now)}. It sent ${last.sent} to the reconcile queue.</p>
<p class="source">${plural(items.length, 'sweep')} finished within an hour, and ${failed} records could not be leased or sent. From the log of sweep-extractions.</p>`;
};

const hourNames = ['Last hour', 'An hour ago', 'A day ago'] as const;

const showTrends = (trends: readonly Trend[]): Html => {
  const cell = (label: string, unit: Trend['unit'], value: number | undefined): Html =>
    value === undefined
      ? html`<td data-label="${label}" class="none">–</td>`
      : html`<td data-label="${label}">${unit === 'seconds' ? formatSeconds(value) : value.toLocaleString('en')}</td>`;
  if (trends.every(({ hours }) => hours.every((value) => value === undefined)))
    return html`<p>CloudWatch has no figures of the last 25 hours. The emulator makes none.</p>`;
  return html`<table class="rows narrow"><caption class="hidden">Figures of the last hour, of an hour ago and of a day ago</caption>
<thead><tr><th scope="col">Figure</th>${hourNames.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${trends.map(
    ({ figure, unit, hours }) =>
      html`<tr><th data-label="Figure" scope="row">${figure}</th>${hours.map((value, index) => cell(hourNames[index] ?? '', unit, value))}</tr>`,
  )}</tbody></table>
<p class="source">Sums and maxima of whole hours, from CloudWatch, a minute old at most. “–” is an hour in which nothing was counted.</p>`;
};

/** The rest are better than these. */
const mostSubjects = 25;

/** One period beside the one before, which is in brackets. */
const compared = [
  { title: 'Last hour', now: 'lastHour', before: 'hourBefore', change: 'hourChange' },
  { title: 'Last day', now: 'lastDay', before: 'dayBefore', change: 'dayChange' },
] as const;

const subjectRow = (health: SubjectHealth, { now, before, change }: (typeof compared)[number]): Html => {
  const [figures, earlier] = [health[now], health[before]];
  const cell = (label: string, value: string, was: string): Html =>
    html`<td data-label="${label}">${value} <span class="quiet">(${was})</span></td>`;
  const count = (label: string, of: 'requested' | 'well' | 'user' | 'failed'): Html =>
    cell(label, figures[of].toLocaleString('en'), earlier[of].toLocaleString('en'));
  const times = (label: string, of: 'toStart' | 'toOutcome'): Html =>
    cell(label, describeTimes(figures[of]), describeTimes(earlier[of]));
  const difference = describeChange(health[change], earlier, before);
  const isGood = health[change] === 'better';
  return html`<tr data-key="${now} ${shown(health.subject)}"><th data-label="${health.kind}" scope="row" class="text">${shown(health.subject, 60)}</th>
${count('Requested', 'requested')}${count('Ended well', 'well')}${count('By the user', 'user')}${count('Failed', 'failed')}${times('To start', 'toStart')}${times('To outcome', 'toOutcome')}
<td data-label="Why" class="text">${shown(describeCauses(figures.causes), 300)}${
    difference === undefined
      ? ''
      : isGood
        ? html`<p class="source">${difference}</p>`
        : html`<p class="late">${icon('alert')} ${difference}</p>`
  }</td></tr>`;
};

const showSubjects = ({ subjects, complete }: HealthReport): Html => {
  if (subjects.length === 0) return html`<p>No extraction was requested or ended within two days.</p>`;
  const rest = subjects.length - mostSubjects;
  return html`${compared.map(
    (one) => html`<h3>${one.title}</h3>
<table class="rows"><caption class="hidden">Extractions by entity, ${one.title.toLowerCase()}</caption>
<thead><tr><th scope="col">Entity or product</th><th scope="col">Requested</th><th scope="col">Ended well</th><th scope="col">By the user</th><th scope="col">Failed</th><th scope="col">To start</th><th scope="col">To outcome</th><th scope="col">Why</th></tr></thead>
<tbody>${subjects.slice(0, mostSubjects).map((health) => subjectRow(health, one))}</tbody></table>`,
  )}
<p class="source">What <code>cosecha health</code> prints, in brackets the hour or the day before. From the logs, five minutes old at most.${
    rest > 0 ? ` It has ${plural(rest, 'more entity or product', 'more entities and products')}.` : ''
  }${complete ? '' : ' Not all lines were read: the counts are too low.'} Times are what half, and what 95 %, took at most.</p>`;
};

/** Kinds in the order of the bar, and the colour of each. */
const colours = { completed: 'good', partial: 'mixed', failed: 'bad', unknown: 'unknown' } as const;
const kinds = ['completed', 'partial', 'failed', 'unknown'] as const;

const barWidth = 240;

const bar = (summary: HourSummary, most: number): Html => {
  let x = 0;
  return html`<svg class="bar" viewBox="0 0 ${barWidth} 14" width="${barWidth}" height="14" aria-hidden="true">${kinds.map(
    (kind) => {
      const width = (barWidth * summary[kind]) / most;
      const part = html`<rect class="fill ${colours[kind]}" x="${x.toFixed(1)}" y="1" width="${width.toFixed(1)}" height="12"/>`;
      x += width;
      return part;
    },
  )}</svg>`;
};

const totalOf = (summary: HourSummary): number => kinds.reduce((sum, kind) => sum + summary[kind], 0);

const showHours = ({ hours, complete }: { hours: readonly HourSummary[]; complete: boolean }): Html => {
  if (hours.length === 0) return html`<p>Nothing ended within 24 hours.</p>`;
  const most = Math.max(...hours.map(totalOf));
  const cell = (kind: (typeof kinds)[number], count: number): Html =>
    html`<td data-label="${kind}"${count === 0 ? html` class="none"` : ''}>${count}</td>`;
  return html`<table class="rows hours"><caption class="hidden">Outcomes by hour, the newest first</caption>
<thead><tr><th scope="col">Hour (UTC)</th>${kinds.map((kind) => html`<th scope="col"><span class="key fill ${colours[kind]}" aria-hidden="true"></span> ${kind}</th>`)}<th scope="col">Half took at most</th><th scope="col">95 % took at most</th><th scope="col"><span class="hidden">Chart</span></th></tr></thead>
<tbody>${hours.map(
    (summary) =>
      html`<tr><th data-label="Hour (UTC)" scope="row">${summary.hour.slice(5, 16).replace('T', ' ')}</th>${kinds.map((kind) => cell(kind, summary[kind]))}<td data-label="Half took at most">${formatSeconds(summary.p50)}</td><td data-label="95 % took at most">${formatSeconds(summary.p95)}</td><td>${bar(summary, most)}</td></tr>`,
  )}</tbody></table>
<p class="source">From the records of ${complete ? 'all executions' : 'the newest 1,000 executions'} of the last 24 hours. “failed” includes what was refused or never started; “unknown” is UNCONFIRMED and TIMED_OUT.</p>`;
};

/** Whether the deployment and the provider work. */
export const healthPage = async (
  {
    sources,
    state,
    actions,
  }: {
    readonly sources: ConsoleSources;
    readonly state: DeploymentState;
    readonly actions: readonly ConsoleAction[];
  },
  links: Links,
  now: Date,
): Promise<Content> => {
  const parts = await readParts(sources, state, now);
  const { findings, alarms, queues, breakers, sweeps, trends, subjects, hours } = parts;
  return {
    title: 'Health',
    model: parts,
    body: (at) => html`
<div class="lead"><h1>${headline(parts)}</h1></div>
${showActions(actions, '', links)}
${
  valueIn(breakers)?.length === 0
    ? ''
    : html`<h2>Calls to the provider</h2>${showPart(breakers, 'Circuit breakers', (value) => showBreakers(value, at))}`
}
<h2>Entities and products</h2>
${showPart(subjects, 'Entities and products', showSubjects)}
<h2>Checks</h2>
${showPart(findings, 'Checks', showFindings)}
<h2>Alarms</h2>
${showPart(alarms, 'Alarms', (value) => showAlarms(value, at))}
<div class="columns"><section>
<h2>Sweeps</h2>
${showPart(sweeps, 'Sweeps', (value) => showSweeps(value, at))}
</section><section>
<h2>Queues</h2>
${showPart(queues, 'Queues', showQueues)}
</section></div>
<h2>Compared with an hour and a day ago</h2>
${showPart(trends, 'Figures of CloudWatch', showTrends)}
<h2>Outcomes by hour</h2>
${showPart(hours, 'Outcomes', showHours)}`,
  };
};
