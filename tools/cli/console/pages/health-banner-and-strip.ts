import { html } from 'hono/html';
import { type PausableCalls, pausableCalls } from '../../../../lib/shared-item/operator-settings.ts';
import { describeHold, holdOf } from '../../terminal/describe-hold.ts';
import { describeWaiting, waitingIn } from '../../terminal/describe-rate.ts';
import { ago, type Html, plural, shown } from '../format-for-page.ts';
import { type ConsoleSources, type Hold, type Part, readPart, valueIn } from '../sources/sources.ts';
import { icon } from './icons-and-badges.ts';
import type { Links } from './page-content-and-links.ts';

export const readState = async (sources: ConsoleSources) => {
  const [holds, sweeps, queues, open, rate] = await Promise.all([
    readPart(() => sources.holds()),
    readPart(() => sources.sweeps()),
    readPart(() => sources.queues()),
    readPart(() => sources.open()),
    readPart(() => sources.rate()),
  ]);
  return { holds, sweeps, queues, open, rate };
};

/** One reading of what every page shows about the deployment, so that no two parts of a page contradict each other. */
export type DeploymentState = Readonly<Awaited<ReturnType<typeof readState>>>;

export const heldIn = ({ holds }: Pick<DeploymentState, 'holds'>): readonly Hold[] => valueIn(holds) ?? [];

const waiting = ({ open }: DeploymentState, hold: Hold): string => {
  const count = valueIn(open)?.filter((record) => holdOf(record, [hold]) !== undefined).length;
  if (count === undefined) return '';
  return hold.calls === 'starts'
    ? ` ${plural(count, 'extraction waits', 'extractions wait')}.`
    : ` ${plural(count, 'extraction is', 'extractions are')} not read meanwhile.`;
};

/** `starts of orders for demo-bank have been held for 5 s, as the provider answers 503; next turn in 40 s. 12 extractions wait.` */
const showHold = (hold: Hold, state: DeploymentState, now: Date): Html => {
  const parts = describeHold(hold, {
    since: (at) => html`for ${ago(at, now, true)}`,
    next: (at) => ago(at, now),
  });
  return html`<p>${icon('pause')} ${parts.map((part) => (typeof part === 'string' ? shown(part, 400) : part))}.${waiting(state, hold)}</p>`;
};

export const showHolds = (state: DeploymentState, most: number, now: Date): Html => {
  const held = heldIn(state);
  const rest = held.length - most;
  return html`${held.slice(0, most).map((hold) => showHold(hold, state, now))}${rest > 0 ? html`<p>${rest} more are held.</p>` : ''}`;
};

export const showBanner = (state: DeploymentState, links: Links, now: Date): Html =>
  heldIn(state).length === 0
    ? html``
    : html`<div class="banner" role="status">${showHolds(state, 3, now)}<p><a href="${links.health()}">Health</a></p></div>`;

const item = (text: Html | string, isWrong: boolean): Html =>
  isWrong ? html`<li class="late">${icon('alert')} ${text}</li>` : html`<li>${text}</li>`;

/** The part as items, or that it could not be read: the health page says why. */
const items = <Value>(part: Part<Value>, name: string, view: (value: Value) => readonly Html[]) =>
  part.kind === 'read' ? view(part.value) : [item(`${name} unknown`, true)];

const showCalls = (calls: PausableCalls, holds: readonly Hold[]): Html => {
  const hold = holds.find((one) => one.calls === calls);
  if (hold === undefined) return item(`${calls} pass`, false);
  return item(hold.kind === 'paused' ? `${calls} are paused` : `some ${calls} are held`, true);
};

export const showStrip = (
  { holds, sweeps, queues, rate }: DeploymentState,
  links: Links,
  now: Date,
): Html => html`
<ul class="strip" aria-label="State of the deployment">${[
  ...items(holds, 'breakers', (all) =>
    all.length === 0
      ? [item('starts and reads pass', false)]
      : pausableCalls.map((calls) => showCalls(calls, all)),
  ),
  // A line is no trouble: each start in it is made in its turn.
  ...items(rate, 'line', (known) => {
    const waiting = waitingIn(known);
    if (waiting === 0) return [];
    return [item(html`<a href="${links.line()}">${describeWaiting(known)}</a>`, false)];
  }),
  // A new stage has none either. What a missing sweep leaves behind is overdue, and the page says that first.
  ...items(sweeps, 'sweeps', ({ items: [last] }) => [
    item(last === undefined ? 'no sweep within an hour' : html`sweep ${ago(last.at, now)}`, false),
  ]),
  ...items(queues, 'queues', (all) =>
    all.map(({ name, waiting: count, isDeadLetters }) =>
      item(`${shown(name)} ${count.toLocaleString('en')}`, isDeadLetters && count > 0),
    ),
  ),
]}<li><a href="${links.health()}">Health</a></li></ul>`;
