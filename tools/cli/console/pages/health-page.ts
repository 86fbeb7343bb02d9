import { html } from 'hono/html';
import { byProduct, describeChange, describeTimes } from '../../health/describe-health.ts';
import type { SubjectHealth } from '../../health/read-health.ts';
import { formatSeconds, secondsSince } from '../../terminal/format-seconds.ts';
import { plural } from '../../terminal/plural.ts';
import type { ConsoleAction } from '../actions/action-types.ts';
import { ago, type Html, inWords, shown, whole, withCode } from '../format-for-page.ts';
import type { DeploymentState } from '../sources/read-state.ts';
import {
  type AlarmLine,
  type ConsoleSources,
  type FindingLine,
  readPart,
  type SubjectsReport,
  valueIn,
} from '../sources/sources.ts';
import { showActions } from './action-pages.ts';
import { table } from './facets-and-tables.ts';
import { showHealthCharts } from './health-charts.ts';
import { icon, showPart } from './icons-and-badges.ts';
import { type Content, focusOn, type Links, type Page } from './page-content-and-links.ts';
import { describeHolds, sidesOf, whoseTrouble } from './status-line.ts';

const readParts = async (sources: ConsoleSources, state: DeploymentState) => {
  const [findings, alarms, hours, subjects] = await Promise.all([
    // The doctor's own check of the breakers may be a minute older than what this page says of them.
    readPart(async () => (await sources.findings()).filter(({ id }) => id !== 'breakers')),
    readPart(() => sources.alarms()),
    readPart(() => sources.hours()),
    readPart(() => sources.subjects()),
  ]);
  return { ...state, findings, alarms, hours, subjects };
};

type Parts = Readonly<Awaited<ReturnType<typeof readParts>>>;

/** `the check overdue`, `the checks overdue and sweep`. The first three are named, the rest are counted. */
const named = (kind: string, names: readonly string[]): string => {
  const shownNames = names.length > 3 ? [...names.slice(0, 2), `${names.length - 2} others`] : names;
  return `the ${kind}${names.length === 1 ? '' : 's'} ${inWords(shownNames)}`;
};

/** An emulator on a machine with too much work fails no check, and starts too late all the same. */
const isLoaded = ({ id, result }: FindingLine) => id === 'emulator-load' && result === 'skipped';

/** Checks that failed, and alarms with how long the first has been in ALARM. */
const describeChecks = (
  failed: readonly FindingLine[],
  alarming: readonly AlarmLine[],
  now: Date,
): string => {
  const [first] = alarming.flatMap(({ since }) => since ?? []).toSorted();
  const long = first === undefined ? '' : ` for ${formatSeconds(Math.max(0, secondsSince(first, now)))}`;
  const checks = failed.map(({ id }) => id);
  const alarms = alarming.map(({ name }) => shown(name, 80));
  const text = [
    ...(failed.length === 0 ? [] : [`${named('check', checks)} failed`]),
    ...(alarming.length === 0
      ? []
      : [`${named('alarm', alarms)} ${alarming.length === 1 ? 'is' : 'are'} in ALARM${long}`]),
  ].join(', and ');
  return text === '' ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
};

/** What every page could not know of us. */
const oursIn = (findings: readonly FindingLine[]): readonly string[] => {
  const failed = findings.filter(({ result }) => result === 'failed').length;
  const loaded = findings.filter(isLoaded).map(() => 'the emulator is overloaded');
  return failed === 0 ? loaded : [...loaded, `${plural(failed, 'check')} failed`];
};

/** Whose trouble it is, then what only this page knows. Only if nothing is wrong, that all is well. */
const headline = (parts: Parts, links: Links, now: Date): string => {
  const { findings, alarms, subjects, holds, open, recent, rate } = parts;
  const all = valueIn(findings) ?? [];
  const failed = all.filter(({ result }) => result === 'failed');
  const loaded = all.filter(isLoaded).map(({ message }) => `The ${message}.`);
  const alarming = valueIn(alarms)?.filter(({ state }) => state === 'ALARM') ?? [];
  const isAllRead = [findings, alarms, subjects, holds, open, recent, rate].every(
    ({ kind }) => kind === 'read',
  );
  const sides = sidesOf(parts, oursIn(all), links, now);
  const troubles = [
    whoseTrouble(sides) ?? '',
    describeChecks(failed, alarming, now),
    ...loaded,
    isAllRead ? '' : 'Not everything could be checked.',
  ].filter((text) => text !== '');
  return troubles.length === 0
    ? 'All is well: no check failed, no alarm is in ALARM, and few extractions fail.'
    : troubles.join(' ');
};

const marks = {
  passed: { mark: 'check', style: 'good' },
  failed: { mark: 'cross', style: 'bad' },
  skipped: { mark: 'dot', style: 'none' },
} as const;

const listFindings = (findings: readonly FindingLine[]): Html =>
  html`<ul class="findings">${findings.map((finding) => {
    const { mark, style } = marks[finding.result];
    const remedy =
      finding.result === 'failed' ? html`<p class="remedy">→ ${withCode(finding.remedy, 600)}</p>` : '';
    return html`<li><span class="status ${style}">${icon(mark)}</span><div><span class="hidden">${finding.result}: </span>${withCode(finding.message, 400)}${remedy}</div></li>`;
  })}</ul>`;

/** What needs somebody is open, and the rest is folded. */
const showFindings = (findings: readonly FindingLine[]): Html => {
  const open = findings.filter((one) => one.result === 'failed' || isLoaded(one));
  const others = findings.filter((one) => !open.includes(one));
  return html`${open.length === 0 ? '' : listFindings(open)}
<details><summary>${plural(others.length, 'check')} passed, or had nothing to check</summary>${listFindings(others)}</details>
<p class="source">The checks of <code>cosecha doctor</code>, which makes two more: a delivery with a wrong signature, which is counted, and a login at the provider.</p>`;
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
        since === undefined ? '' : html` <span class="quiet">for ${ago(since, now, true)}</span>`
      }<p class="remedy">${describeAlarm(description)}</p></div></li>`,
  )}</ul>${rest}`;
};

/** The rest are better than these. */
const maxSubjects = 25;

/** One period beside the one before, which is in brackets. */
const compared = [
  { title: 'Last hour', now: 'lastHour', before: 'hourBefore', change: 'hourChange' },
  { title: 'Last day', now: 'lastDay', before: 'dayBefore', change: 'dayChange' },
] as const;

/** `8 TIMEOUT_ERROR, 2 NOT_STARTED start-window-over`. Each leads to its own failures in the list. */
const showCauses = (health: SubjectHealth, period: 'lastHour' | 'lastDay', links: Links): Html => {
  const { subject, kind } = health;
  return html`${health[period].causes.map(({ cause, count }, index) => {
    const query = new URLSearchParams({
      status: 'failed',
      method: kind === 'product' ? 'consent' : 'credentials',
      subject,
      cause,
      since: period === 'lastHour' ? '1h' : '24h',
    });
    return html`${index === 0 ? '' : ', '}<a href="${links.list()}?${query}${focusOn.result}">${count.toLocaleString('en')} ${whole(cause)}</a>`;
  })}`;
};

const subjectRow = (
  health: SubjectHealth,
  { now, before, change }: (typeof compared)[number],
  links: Links,
): Html => {
  const [figures, earlier] = [health[now], health[before]];
  const cell = (label: string, value: string, was: string): Html =>
    html`<td data-label="${label}">${value} <span class="quiet">(${was})</span></td>`;
  const count = (label: string, of: 'requested' | 'well' | 'user' | 'caller' | 'failed'): Html =>
    cell(label, figures[of].toLocaleString('en'), earlier[of].toLocaleString('en'));
  const times = (label: string, of: 'toStart' | 'toOutcome'): Html =>
    cell(label, describeTimes(figures[of]), describeTimes(earlier[of]));
  const difference = describeChange(health[change], earlier, before);
  const isGood = health[change] === 'better';
  return html`<tr data-key="${now} ${shown(health.subject)}"><th data-label="${health.kind}" scope="row" class="text">${whole(health.subject)}</th>
${count('Requested', 'requested')}${count('Ended well', 'well')}${count('By the user', 'user')}${count('By the caller', 'caller')}${count('Failed', 'failed')}${times('To start', 'toStart')}${times('To outcome', 'toOutcome')}
<td data-label="Why" class="text">${showCauses(health, now, links)}${
    difference === undefined
      ? ''
      : isGood
        ? html`<p class="source">${difference}</p>`
        : html`<p class="late">${icon('alert')} ${difference}</p>`
  }</td></tr>`;
};

const columns = [
  'Entity or product',
  'Requested',
  'Ended well',
  'By the user',
  'By the caller',
  'Failed',
  'To start',
  'To outcome',
  'Why',
];

const showSubjects = ({ subjects, complete }: SubjectsReport, links: Links): Html => {
  if (subjects.length === 0) return html`<p>No extraction was requested or ended within two days.</p>`;
  const rest = subjects.length - maxSubjects;
  return html`${compared.map((one) => {
    const rows = subjects.slice(0, maxSubjects).map((health) => subjectRow(health, one, links));
    const title = `${one.title} by entity and product`;
    return html`<h2>${title}</h2>${table({ caption: title, columns, style: 'cards subjects' }, rows)}`;
  })}
<p class="source">What <code>cosecha health</code> prints, in brackets the hour or the day before. From the logs, five minutes old at most.${
    rest > 0 ? ` It has ${plural(rest, 'more entity or product', 'more entities and products')}.` : ''
  }${complete ? '' : ' Not all lines were read: the counts are too low.'} Times are what half, and what 95 %, took at most.${
    subjects.some(({ kind }) => kind === 'product') ? html` ${withCode(byProduct.join(' '), 300)}` : ''
  }</p>`;
};

/** Pause is offered unless the calls are paused, and Resume while any of them are held. Both, where that is unknown. */
const offered = (actions: readonly ConsoleAction[], holds: Parts['holds']) => {
  const known = valueIn(holds);
  return actions.filter(({ pausing }) => {
    if (pausing === undefined || known === undefined) return true;
    const held = known.filter(({ calls }) => calls === pausing.calls);
    return pausing.resumes ? held.length > 0 : held.every(({ kind }) => kind !== 'paused');
  });
};

const maxHolds = 25;

export const healthPage = async ({ sources, state, actions, links }: Page): Promise<Content> => {
  const parts = await readParts(sources, state);
  const { findings, alarms, holds, queues, sweeps, subjects } = parts;
  const own = actions.filter(({ place }) => place === 'health');
  return {
    title: 'Health',
    model: parts,
    ours: oursIn(valueIn(findings) ?? []),
    body: (at) => html`
<h1>${headline(parts, links, at)}</h1>
${showHealthCharts(parts, links, at)}
${showActions(offered(own, holds), '', links)}
${showPart(alarms, 'Alarms', (value) => showAlarms(value, at))}
${showPart(findings, 'Checks', showFindings)}
${showPart(sweeps, 'Sweeps', () => html``)}${showPart(queues, 'Queues', () => html``)}
${showPart(holds, 'Pauses and circuit breakers', (held) => (held.length === 0 ? html`` : html`<h2>Calls to the provider</h2>${describeHolds(held, maxHolds, state, at).map((text) => html`<p>${text}</p>`)}`))}
${showPart(subjects, 'Entities and products', (value) => showSubjects(value, links))}
`,
  };
};
