import { html } from 'hono/html';
import { type Extraction, hasWebhook } from '../../../../lib/extraction/record.ts';
import { plural } from '../../terminal/plural.ts';
import type { Html } from '../format-for-page.ts';
import { heldIn, readState, standingAt } from '../sources/read-state.ts';
import {
  beginOf,
  distinct,
  type Filter,
  hoursText,
  idIn,
  isFiltered,
  isOpen,
  parseFilter,
  type Standing,
  selectExtractions,
  taskIdIn,
} from '../sources/select-extractions.ts';
import { type ConsoleSources, readPart, valueIn } from '../sources/sources.ts';
import { showActions } from './action-pages.ts';
import { showPart } from './icons-and-badges.ts';
import { filterForm, searched, showCounts } from './list-filters.ts';
import { listTable } from './list-table.ts';
import { type Content, type Page, pageOf, showPager } from './page-content-and-links.ts';

const readLists = async (filter: Filter, { sources, state, now }: Read) => {
  const id = idIn(filter);
  const taskId = taskIdIn(filter);
  const { name, batch } = filter;
  const withName = (by: 'reference' | 'batch', name: string) =>
    readPart(async () => (name === '' ? { items: [], complete: true } : sources.withName(by, name)));
  const [recent, named, referenced, batched] = await Promise.all([
    filter.since === '1h' && filter.hour === ''
      ? state.recent
      : readPart(() => sources.recent(beginOf(filter, now))),
    readPart(
      async () =>
        (id === undefined ? undefined : await sources.record(id)) ??
        (taskId === undefined ? undefined : sources.recordOfTask(taskId)),
    ),
    withName('reference', name),
    withName('batch', batch === '' ? name : batch),
  ]);
  return { open: state.open, recent, named, referenced, batched };
};

type Lists = Readonly<Awaited<ReturnType<typeof readLists>>>;

/** The records of all parts. Of one that is in several, the last is used: the recent ones may be a minute old. */
const recordsIn = ({ open, recent, named, ...byName }: Lists, since: string): readonly Extraction[] => [
  ...(valueIn(recent)?.items ?? []).filter(
    (record) => isOpen(record) || (record.settledAt ?? record.requestedAt) >= since,
  ),
  ...(valueIn(open) ?? []),
  ...Object.values(byName).flatMap((part) => valueIn(part)?.items ?? []),
  ...[valueIn(named) ?? []].flat(),
];

/** What answers "is anything stuck?" before anything else. With a filter, of those that match. */
const headline = (
  records: readonly Extraction[],
  { open: part }: Lists,
  isFiltered: boolean,
  { isLate }: Standing,
): string => {
  if (part.kind === 'unreadable') return 'What is open could not be read.';
  if (isFiltered) return `${plural(records.length, 'extraction matches', 'extractions match')}.`;
  const overdue = records.filter(isLate).length;
  if (overdue > 0) return `${plural(overdue, 'extraction is', 'extractions are')} overdue.`;
  const open = records.filter(isOpen).length;
  return open === 0
    ? 'Nothing is open.'
    : `${plural(open, 'extraction is', 'extractions are')} open, and none is overdue.`;
};

const limits = ({ referenced, batched, recent }: Lists): Html => {
  const read = valueIn(recent);
  return html`${Object.entries({ reference: referenced, batch: batched }).map(([by, part]) => (valueIn(part)?.complete === false ? html`<p class="note">Only the newest of this ${by} were read. <code>cosecha list --${by}</code> finds all.</p>` : ''))}
${read?.complete === false ? html`<p class="note">Of those that ended, only the newest ${plural(read.items.length, 'execution')} were read. <code>cosecha list --advice todo --since</code> finds all.</p>` : ''}`;
};

/** The machine starts it, waits for its webhook or polls it. Everything else is the queue's. */
const isTried = (record: Extraction): boolean =>
  isOpen(record) && (record.status === 'REQUESTED' || (record.status === 'RUNNING' && hasWebhook(record)));

/** A history for each of these rows. In an outage of more, the first line and the held calls show what is wrong. */
const maxTried = 10;

type Read = Pick<Page, 'sources' | 'state' | 'now'>;

const readMatching = async (filter: Filter, read: Read) => {
  const lists = await readLists(filter, read);
  const all = distinct(recordsIn(lists, beginOf(filter, read.now).toISOString()));
  return { lists, all, records: selectExtractions(all, filter, standingAt(read.state, read.now)) };
};

/** What the list shows for a query, on all of its pages. */
export const matchingRecords = async (
  query: string,
  sources: ConsoleSources,
  now: Date,
): Promise<readonly Extraction[]> => {
  const filter = parseFilter(new URLSearchParams(query));
  const { records } = await readMatching(filter, { sources, state: await readState(sources), now });
  return records;
};

/** The filter of a query, without the page and what a form did. */
const filterOf = (query: URLSearchParams): string => {
  const filter = new URLSearchParams(query);
  for (const name of ['page', 'did']) filter.delete(name);
  return filter.toString();
};

const noRows = (filter: Filter): Html =>
  isFiltered(filter)
    ? html`<p class="empty">No extraction matches.</p>`
    : html`<p class="empty">No extraction is open, or ended in ${hoursText(filter.since)}. Here is each from its request on. Request one with <code>cosecha start</code>.</p>`;

export const listPage = async (read: Page): Promise<Content> => {
  const { query, sources, state, actions, links, now } = read;
  const filter = parseFilter(query);
  const { lists, all, records } = await readMatching(filter, read);
  const offered = actions.filter(
    ({ place, isFor = () => true }) => place === 'list' && isFiltered(filter) && records.some(isFor),
  );
  const page = pageOf(query, records);
  const tried = page.shown.filter(isTried).slice(0, maxTried);
  const tries = valueIn(await readPart(() => sources.tries(tried.map(({ extractionId }) => extractionId))));
  const late = records.filter(standingAt(state, now).isLate).length;
  return {
    title: 'Extractions',
    model: [query.toString(), lists, tries, late],
    body: (at) => {
      const standing = standingAt(state, at);
      const rate = valueIn(state.rate);
      const progress = {
        held: heldIn(state),
        trying: new Map(tries),
        rate,
        isLate: standing.isLate,
        sweepEveryMinutes: state.sweepEveryMinutes,
      };
      return html`
<div class="lead"><h1 id="result" tabindex="-1">${headline(records, lists, isFiltered(filter), standing)}</h1>
${filterForm(filter, query, links)}</div>
${showCounts(all, { filter, query, standing })}
${showPart(lists.open, 'Open extractions', () => html``)}
${showPart(lists.recent, 'Extractions that ended', () => html``)}
${showPart(lists.referenced, 'Extractions with this reference', () => html``)}
${showPart(lists.batched, 'Extractions of this batch', () => html``)}
${records.length === 0 ? noRows(filter) : listTable(page.shown, progress, at, links)}
${showPager(query, page)}
${searched(filter, all)}
${showActions(offered, filterOf(query), links)}
${limits(lists)}`;
    },
  };
};
