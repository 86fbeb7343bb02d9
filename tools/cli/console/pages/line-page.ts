import { html } from 'hono/html';
import type { LineHistory, RateChange } from '../../aws/read-line-history.ts';
import { describeRate, describeRateChange, type StartRate, waitingIn } from '../../terminal/describe-rate.ts';
import { callerName } from '../../terminal/operator-view.ts';
import { showChart } from '../charts/draw-chart.ts';
import { ago, clock, type Html, shown, whole } from '../format-for-page.ts';
import { sinceIn } from '../sources/select-extractions.ts';
import { readPart, valueIn } from '../sources/sources.ts';
import { sinceFacets, table } from './facets-and-tables.ts';
import { showPart } from './icons-and-badges.ts';
import { type Content, focusOn, type Links, type Page } from './page-content-and-links.ts';

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

const describe = (rate: StartRate, now: Date): readonly string[] =>
  describeRate({ ...rate, lanes: [] }, now).filter((text) => text !== 'no start waits');

/** Ten minutes at least. A crowd of two minutes would not be seen in an hour of nothing. */
const shortestMs = 600_000;

/** The periods from the first in which something happened on. */
const trimmed = ({ periods, periodSeconds }: LineHistory): LineHistory['periods'] => {
  const first = periods.findIndex(
    ({ waiting = 0, started = 0, refused = 0 }) => waiting + started + refused > 0,
  );
  const most = Math.ceil(shortestMs / (periodSeconds * 1_000));
  return first === -1 ? [] : periods.slice(Math.max(0, Math.min(first - 1, periods.length - most)));
};

/** Growth comes every ten seconds, and the step of the rate shows it. */
const isLabelled = ({ judged }: RateChange): boolean => judged !== 'grown';

const perSecond = (value: number): string => Number(value.toPrecision(3)).toLocaleString('en');

const showHistory = (history: LineHistory, rate: StartRate | undefined, now: Date): Html => {
  const periods = trimmed(history);
  const { periodSeconds, changes } = history;
  const times = periods.map(({ at }) => at);
  const waiting = periods.map((period, index) =>
    index === periods.length - 1 && rate !== undefined ? waitingIn(rate) : period.waiting,
  );
  /** A metric comes once a minute, and a change is logged when it is made. */
  const rateIn = (at: number): number | undefined =>
    changes.findLast(
      (change) => Math.abs(Date.parse(change.at) - at - periodSeconds * 500) <= periodSeconds * 500,
    )?.perSecond;
  const rates = periods.map(({ at, perSecond: metric }, index) =>
    index === periods.length - 1 ? (rate?.perSecond ?? metric) : (rateIn(at) ?? metric),
  );
  const byHand = rate?.byHand;
  const all = [
    ...changes,
    ...(byHand === undefined ? [] : [{ ...byHand, at: new Date(byHand.since).toISOString(), judged: 'set' }]),
  ].toSorted((one, other) => other.at.localeCompare(one.at));
  const labels = all
    .filter((change) => isLabelled(change) && Date.parse(change.at) >= (times[0] ?? 0))
    .map((change) => ({ at: Date.parse(change.at), text: shown(describeRateChange(change, 'short'), 40) }))
    .reverse();
  const shared = { times, periodMs: periodSeconds * 1_000, width: 1_120 };
  const each = (of: 'started' | 'refused') =>
    periods.map((period) => (period[of] === undefined ? undefined : period[of] / periodSeconds));
  return html`${showChart({
    ...shared,
    title: 'Who waits',
    format: (value) => Math.round(value).toLocaleString('en'),
    empty:
      'No start waited, was made or was refused. Here is how many wait, if the provider refuses starts or a rate is set.',
    series: [{ name: 'starts that wait', look: 'open', shape: 'line', values: waiting }],
    height: 150,
  })}${showChart({
    ...shared,
    title: 'Starts a second, and the rate',
    format: perSecond,
    labels,
    height: 220,
    empty:
      'No start was made. Here is how many are accepted and refused a second, and the rate with its changes.',
    series: [
      { name: 'accepted', look: 'good', shape: 'bar', values: each('started') },
      { name: 'refused', look: 'bad', shape: 'bar', values: each('refused') },
      { name: 'rate', look: 'unknown', shape: 'step', values: rates },
    ],
  })}${
    all.length === 0
      ? ''
      : html`<details><summary>All changes of the rate</summary>${table(
          { caption: 'Changes of the rate, the newest first', columns: ['Time (UTC)', 'What, and why'] },
          all.map(
            (change) =>
              html`<tr><td>${clock(change.at, now)}</td><td class="text">${shown(sentence(describeRateChange(change)), 400)}</td></tr>`,
          ),
        )}</details>`
  }`;
};

/** The rest have fewer. */
const maxLanes = 50;

const showLanes = ({ lanes, isComplete = true }: StartRate, now: Date, links: Links): Html => {
  if (lanes.length === 0)
    return html`<p class="empty">Nobody waits. Here is each caller that does, and for how long.</p>`;
  const rows = lanes
    .toSorted((one, other) => other.waiting.length - one.waiting.length)
    .slice(0, maxLanes)
    .map(({ caller, priority, waiting: [first, ...rest] }) => {
      const query = new URLSearchParams({ status: 'line', caller });
      return html`<tr><th scope="row" class="text"><a href="${links.list()}?${query}${focusOn.result}">${whole(callerName(caller))}</a></th><td>${priority}</td><td>${(first === undefined ? 0 : rest.length + 1).toLocaleString('en')}</td><td>${first === undefined ? '' : html`requested ${ago(first.at, now)}`}</td></tr>`;
    });
  const columns = ['Caller', 'Priority', 'Waiting', 'The first of them'];
  return html`${table({ caption: 'Who waits, by caller and priority', columns, style: 'narrow' }, rows)}${lanes.length > maxLanes ? html`<p class="note">${lanes.length - maxLanes} more wait.</p>` : ''}${isComplete ? '' : html`<p class="note">More starts wait than were counted.</p>`}`;
};

/** Where the rate of starts is from, who waits for it, and how both became what they are. */
export const linePage = async ({ query, sources, state, links }: Page): Promise<Content> => {
  const since = sinceIn(query);
  const history = await readPart(() => sources.line(since));
  const rate = valueIn(state.rate);
  return {
    title: 'Line',
    model: [query.toString(), state.rate, history],
    body: (at) => html`
<div class="lead"><h1 id="result" tabindex="-1">${rate === undefined ? 'The line could not be read.' : sentence(describeRate({ ...rate }, at).find((text) => / wait/.test(text)) ?? '')}</h1>
${sinceFacets(query)}</div>
${showPart(state.rate, 'The rate of starts', (known) => html`<p>${describe(known, at).map((text) => `${shown(sentence(text), 500)} `)}</p>`)}
${showPart(history, 'What happened', (read) => showHistory(read, rate, at))}
<h2>By caller</h2>
${showPart(state.rate, 'Who waits', (known) => showLanes(known, at, links))}
<p class="source">From metrics of CloudWatch, a minute old at most, the dispatcher's log, and the item of the rate. <code>cosecha rate --watch</code> prints the same.</p>`,
  };
};
