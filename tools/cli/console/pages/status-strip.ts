import { html } from 'hono/html';
import { ago, type Html, shown } from '../shown.ts';
import {
  type Bounded,
  type Breaker,
  type ConsoleSources,
  type Part,
  type QueueLine,
  readPart,
  type SweepLine,
} from '../sources.ts';
import type { Links } from './content.ts';

/** What the strip shows. The health page has the details. */
export type Strip = {
  readonly breakers: Part<readonly Breaker[]>;
  readonly sweeps: Part<Bounded<SweepLine>>;
  readonly queues: Part<readonly QueueLine[]>;
};

export const readStrip = async (sources: ConsoleSources): Promise<Strip> => {
  const [breakers, sweeps, queues] = await Promise.all([
    readPart(() => sources.breakers()),
    readPart(() => sources.sweeps()),
    readPart(() => sources.queues()),
  ]);
  return { breakers, sweeps, queues };
};

const item = (text: Html | string, isWrong: boolean): Html =>
  isWrong ? html`<li class="late"><span aria-hidden="true">▲</span> ${text}</li>` : html`<li>${text}</li>`;

/** The part as items, or that it could not be read: the health page says why. */
const items = <Value>(part: Part<Value>, name: string, view: (value: Value) => readonly Html[]) =>
  part.kind === 'read' ? view(part.value) : [item(`${name} unknown`, true)];

/** Whether it is the provider, and whether the deployment keeps up, in one line. */
export const showStrip = ({ breakers, sweeps, queues }: Strip, links: Links, now: Date): Html => html`
<ul class="strip" aria-label="State of the deployment">${[
  ...items(breakers, 'breakers', (all) =>
    all.map(({ name, state }) => item(`${name} ${state}`, state !== 'closed')),
  ),
  // A new stage has none either. What a missing sweep leaves behind is overdue, and the page says that first.
  ...items(sweeps, 'sweeps', ({ items: [last] }) => [
    item(last === undefined ? 'no sweep within an hour' : html`sweep ${ago(last.at, now)}`, false),
  ]),
  ...items(queues, 'queues', (all) =>
    all.map(({ name, waiting, isDeadLetters }) =>
      item(`${shown(name)} ${waiting.toLocaleString('en')}`, isDeadLetters && waiting > 0),
    ),
  ),
]}<li><a href="${links.health()}">Health</a></li></ul>`;
