import { html } from 'hono/html';
import type { Extraction } from '../../../../lib/extraction/record.ts';
import { describeCause } from '../../terminal/describe-breaker.ts';
import { ago, type Html, plural, shown } from '../format-for-page.ts';
import { isOpen } from '../sources/select-extractions.ts';
import { type Breaker, type ConsoleSources, type Part, readPart, valueIn } from '../sources/sources.ts';
import type { Links } from './content.ts';
import { icon } from './parts.ts';

export const readState = async (sources: ConsoleSources) => {
  const [breakers, sweeps, queues, open] = await Promise.all([
    readPart(() => sources.breakers()),
    readPart(() => sources.sweeps()),
    readPart(() => sources.queues()),
    readPart(() => sources.open()),
  ]);
  return { breakers, sweeps, queues, open };
};

/** One reading of what every page shows about the deployment, so that no two parts of a page contradict each other. */
export type DeploymentState = Readonly<Awaited<ReturnType<typeof readState>>>;

const passes = ({ state }: Breaker): boolean => state === 'closed';

/** The breakers that keep calls from the provider. */
export const heldIn = ({ breakers }: Pick<DeploymentState, 'breakers'>): readonly Breaker[] =>
  (valueIn(breakers) ?? []).filter((breaker) => !passes(breaker));

/** Whether the breaker of starts, or that of reads, keeps this extraction from its next step. */
export const holdOf = (record: Extraction, held: readonly Breaker[]): Breaker | undefined => {
  if (!isOpen(record)) return undefined;
  const name = record.status === 'REQUESTED' ? 'starts' : record.status === 'STARTING' ? undefined : 'reads';
  return held.find((breaker) => breaker.name === name);
};

const names = { starts: 'Starts', reads: 'Reads' } as const;

const waiting = ({ open }: DeploymentState, breaker: Breaker): Html | string => {
  const count = valueIn(open)?.filter((record) => holdOf(record, [breaker]) !== undefined).length;
  if (count === undefined) return '';
  return breaker.name === 'starts'
    ? ` ${plural(count, 'extraction waits', 'extractions wait')}.`
    : ` ${plural(count, 'extraction is', 'extractions are')} not read meanwhile.`;
};

/** `Starts have been held for 5 s: the provider answers 503. The next try is in 40 s. 12 extractions wait.` */
const describeHold = (breaker: Breaker, state: DeploymentState, now: Date): Html => {
  const { name, since, until, reason, cause, state: phase } = breaker;
  const from = since === undefined ? '' : html` for ${ago(since, now, true)}`;
  if (phase === 'paused') {
    const why = reason === undefined ? '' : html` (${shown(reason, 200)})`;
    return html`${names[name]} have been paused${from}${why}, until somebody resumes them.${waiting(state, breaker)}`;
  }
  const next =
    phase === 'half-open'
      ? ' The next call tests it.'
      : until === undefined
        ? ''
        : html` The next try is ${ago(until, now)}.`;
  return html`${names[name]} have been held${from}: ${describeCause(cause)}.${next}${waiting(state, breaker)}`;
};

/** What keeps the deployment from working, at the top of every page. */
export const showBanner = (state: DeploymentState, links: Links, now: Date): Html => {
  const held = heldIn(state);
  if (held.length === 0) return html``;
  return html`<div class="banner" role="status">${held.map(
    (breaker, index) =>
      html`<p>${icon('pause')} ${describeHold(breaker, state, now)}${index === held.length - 1 ? html` <a href="${links.health()}">Health</a>` : ''}</p>`,
  )}</div>`;
};

const item = (text: Html | string, isWrong: boolean): Html =>
  isWrong ? html`<li class="late">${icon('alert')} ${text}</li>` : html`<li>${text}</li>`;

/** The part as items, or that it could not be read: the health page says why. */
const items = <Value>(part: Part<Value>, name: string, view: (value: Value) => readonly Html[]) =>
  part.kind === 'read' ? view(part.value) : [item(`${name} unknown`, true)];

/** Whether calls pass, and whether the deployment keeps up, in one line. */
export const showStrip = (
  { breakers, sweeps, queues }: DeploymentState,
  links: Links,
  now: Date,
): Html => html`
<ul class="strip" aria-label="State of the deployment">${[
  ...items(breakers, 'breakers', (all) =>
    all.length > 0 && all.every(passes)
      ? [item('starts and reads pass', false)]
      : all.map((one) =>
          item(
            `${one.name} ${passes(one) ? 'pass' : one.state === 'paused' ? 'are paused' : 'are held'}`,
            !passes(one),
          ),
        ),
  ),
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
