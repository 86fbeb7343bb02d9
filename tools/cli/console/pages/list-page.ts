import { html } from 'hono/html';
import { isOverdue } from '../../../../lib/extraction/deadlines.ts';
import { type Extraction, entityOrProductOf, hasWebhook } from '../../../../lib/extraction/record.ts';
import type { Trying } from '../../explain/execution-progress.ts';
import { holdOf } from '../../terminal/describe-hold.ts';
import type { StartRate } from '../../terminal/describe-rate.ts';
import { callerName } from '../../terminal/operator-view.ts';
import { shortId } from '../../terminal/short-id.ts';
import type { ConsoleAction } from '../actions/action-types.ts';
import { describeNext, startOfLine } from '../describe-next.ts';
import { ago, type Html, plural, shown, whole } from '../format-for-page.ts';
import {
  distinct,
  type Filter,
  groupFailures,
  hoursText,
  idIn,
  isFiltered,
  isOpen,
  latestOf,
  methodChoices,
  parseFilter,
  selectExtractions,
  sinceChoices,
  startOf,
  statusChoices,
  taskIdIn,
} from '../sources/select-extractions.ts';
import { type ConsoleSources, type Hold, readPart, valueIn } from '../sources/sources.ts';
import { showActions } from './action-pages.ts';
import { type DeploymentState, heldIn, readState, showStrip } from './health-banner-and-strip.ts';
import { icon, option, showPart, statusBadge } from './icons-and-badges.ts';
import { type Content, focusOn, type Links, pageOf, showPager } from './page-content-and-links.ts';

type Clock = { readonly now: Date; readonly sweepEveryMinutes: number };

const countOverdue = (records: readonly Extraction[], { now, sweepEveryMinutes }: Clock): number =>
  records.filter((record) => isOverdue(record, now, sweepEveryMinutes)).length;

const readLists = async (sources: ConsoleSources, { open }: DeploymentState, filter: Filter, now: Date) => {
  const since = startOf(filter.since, now);
  const id = idIn(filter);
  const taskId = taskIdIn(filter);
  const { name, batch } = filter;
  const withName = (by: 'reference' | 'batch', name: string) =>
    readPart(async () => (name === '' ? { items: [], complete: true } : sources.withName(by, name)));
  const [recent, named, referenced, batched] = await Promise.all([
    readPart(() => sources.recent(since)),
    readPart(
      async () =>
        (id === undefined ? undefined : await sources.record(id)) ??
        (taskId === undefined ? undefined : sources.recordOfTask(taskId)),
    ),
    withName('reference', name),
    withName('batch', batch),
  ]);
  return { open, recent, named, referenced, batched };
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

const label = (name: string, control: Html): Html => html`<label><span>${name}</span>${control}</label>`;

/** Closed on a phone, so that the page begins with its rows. A wide page has it open (console.css). */
const filterForm = (filter: Filter, links: Links): Html => html`
<details class="filtering"${isFiltered(filter) ? html` open` : ''}><summary>Filter</summary><form class="filters" method="get" action="${links.list()}${focusOn.result}" role="search" aria-label="Filter extractions">
  ${label('Status', html`<select name="status">${statusChoices.map((one) => option(one, filter.status))}</select>`)}
  ${label('Method', html`<select name="method">${methodChoices.map((one) => option(one, filter.method))}</select>`)}
  ${label('Entity or product', html`<input name="subject" value="${shown(filter.subject, 256)}" autocomplete="off">`)}
  ${filter.cause === '' ? '' : label('Cause', html`<input name="cause" value="${shown(filter.cause, 256)}" autocomplete="off">`)}
  ${label('Caller', html`<input name="caller" value="${shown(filter.caller, 256)}" autocomplete="off">`)}
  ${label('Id, task or reference', html`<input id="name" name="name" value="${shown(filter.name, 256)}" autocomplete="off">`)}
  ${label('Batch', html`<input name="batch" value="${shown(filter.batch, 256)}" autocomplete="off">`)}
  ${label(
    'Ended within',
    html`<select name="since">${sinceChoices.map((one) => option(one, filter.since, hoursText(one)))}</select>`,
  )}
  <button type="submit">Filter</button> <a class="reset" href="${links.list()}${focusOn.result}">Reset</a>
</form></details>`;

type Progress = {
  readonly held: readonly Hold[];
  readonly trying: ReadonlyMap<string, Trying>;
  readonly rate: StartRate | undefined;
};

const row = (record: Extraction, { held, trying, rate }: Progress, clock: Clock, links: Links): Html => {
  const { now, sweepEveryMinutes } = clock;
  const { extractionId, status, method, requestedBy, reference = '–' } = record;
  const cell = (name: string, text: string, more: Html | string = ''): Html =>
    html`<td data-label="${name}">${whole(text)}${more}</td>`;
  const overdue = isOverdue(record, now, sweepEveryMinutes);
  return html`<tr data-key="${extractionId}" class="${overdue ? 'overdue' : isOpen(record) ? 'open' : 'ended'}">
<td data-label="Status">${overdue ? html`<span class="late">${icon('alert')} overdue</span> ` : ''}${statusBadge(status)}</td>
<th data-label="Extraction" scope="row"><a href="${links.extraction(extractionId)}" title="${extractionId}">${shortId(extractionId)}</a></th>
${cell('Entity or product', entityOrProductOf(record), method === 'consent' ? html` <span class="quiet">by consent</span>` : '')}
<td data-label="Caller" title="${whole(requestedBy)}">${whole(callerName(requestedBy))}</td>
${cell('Reference', reference)}
<td data-label="${record.settledAt === undefined ? 'Requested' : 'Ended'}">${ago(latestOf(record), now)}</td>
<td data-label="${isOpen(record) ? 'Next' : 'End'}" class="next">${describeNext(record, clock, { hold: holdOf(record, held), trying: trying.get(extractionId), startAt: startOfLine(record, rate, now) })}</td>
</tr>`;
};

const table = (records: readonly Extraction[], progress: Progress, clock: Clock, links: Links): Html => html`
<table id="rows" tabindex="-1" class="rows cards extractions">
<caption class="hidden">Extractions, the overdue first, then the open, then those that ended</caption>
<thead><tr><th scope="col" class="by-status">Status</th><th scope="col" class="by-id">Extraction</th><th scope="col">Entity or product</th><th scope="col">Caller</th><th scope="col" class="by-reference">Reference</th><th scope="col" class="by-time">Requested or ended</th><th scope="col" class="by-next">What happens next, or how it ended</th></tr></thead>
<tbody>${records.map((record) => row(record, progress, clock, links))}</tbody>
</table>`;

const counts = (records: readonly Extraction[], clock: Clock): string => {
  const open = records.filter(isOpen).length;
  const named = { open, overdue: countOverdue(records, clock), ended: records.length - open };
  return Object.entries(named)
    .map(([name, count]) => `${count.toLocaleString('en')} ${name}`)
    .join(' · ');
};

/** What answers "is anything stuck?" before anything else. With a filter, of those that match. */
const headline = (
  records: readonly Extraction[],
  { open: part }: Lists,
  isFiltered: boolean,
  clock: Clock,
): string => {
  if (part.kind === 'unreadable') return 'What is open could not be read.';
  if (isFiltered) return `${plural(records.length, 'extraction matches', 'extractions match')}.`;
  const overdue = countOverdue(records, clock);
  if (overdue > 0) return `${plural(overdue, 'extraction is', 'extractions are')} overdue.`;
  const open = records.filter(isOpen).length;
  return open === 0
    ? 'Nothing is open.'
    : `${plural(open, 'extraction is', 'extractions are')} open, and none is overdue.`;
};

/** The rest are few each. */
const maxGroups = 6;

/** `12 failed: 9 TIMEOUT_ERROR at demo-bank`. Each group leads to its own failures. */
const failures = (records: readonly Extraction[], query: URLSearchParams): Html => {
  const groups = groupFailures(records);
  if (groups.length === 0) return html``;
  const total = groups.reduce((sum, { count }) => sum + count, 0);
  const link = ({ cause, method, subject }: (typeof groups)[number]): string => {
    const narrowed = new URLSearchParams(query);
    narrowed.set('status', 'failed');
    narrowed.set('method', method);
    narrowed.set('subject', subject);
    narrowed.set('cause', cause);
    narrowed.delete('page');
    return `?${narrowed}${focusOn.result}`;
  };
  const shownGroups = groups.slice(0, maxGroups);
  const more = groups.length - shownGroups.length;
  return html`<p class="failures">${total.toLocaleString('en')} failed:${shownGroups.map((group, index) => {
    const { cause, method, subject, count } = group;
    return html`${index === 0 ? ' ' : ', '}<a href="${link(group)}">${count.toLocaleString('en')} ${whole(cause)} ${method === 'consent' ? 'of' : 'at'} ${whole(subject)}</a>`;
  })}${more === 0 ? '' : `, and ${plural(more, 'other cause')}`}.</p>`;
};

/** What a search left out, as an empty list may otherwise seem to prove that there is nothing. */
const searched = (filter: Filter, all: readonly Extraction[]): Html =>
  isFiltered(filter)
    ? html`<p class="note">Searched: ${plural(all.length, 'extraction')} that ${all.length === 1 ? 'is' : 'are'} open or ended within ${hoursText(filter.since)}. Any older one is found by its whole id, task, reference or batch alone.</p>`
    : html``;

const limits = ({ referenced, batched, recent }: Lists): Html => {
  const read = valueIn(recent);
  return html`${Object.entries({ reference: referenced, batch: batched }).map(([by, part]) => (valueIn(part)?.complete === false ? html`<p class="note">Only the newest of this ${by} were read. <code>cosecha list --${by}</code> finds all.</p>` : ''))}
${read?.complete === false ? html`<p class="note">Of those that ended, only the newest ${plural(read.items.length, 'execution')} were read.</p>` : ''}`;
};

/** The machine starts it, waits for its webhook or polls it. Everything else is the queue's. */
const isTried = (record: Extraction): boolean =>
  isOpen(record) && (record.status === 'REQUESTED' || (record.status === 'RUNNING' && hasWebhook(record)));

/** A history for each of these rows. In an outage of more, the first line and the held calls show what is wrong. */
const maxTried = 10;

type ListDeps = {
  readonly sources: ConsoleSources;
  readonly state: DeploymentState;
  readonly actions: readonly ConsoleAction[];
};

const readMatching = async (
  filter: Filter,
  { sources, state }: Pick<ListDeps, 'sources' | 'state'>,
  now: Date,
) => {
  const lists = await readLists(sources, state, filter, now);
  const all = distinct(recordsIn(lists, startOf(filter.since, now).toISOString()));
  const isLate = (record: Extraction) => isOverdue(record, now, sources.sweepEveryMinutes);
  return { lists, all, records: selectExtractions(all, filter, isLate) };
};

/** What the list shows for a query, on all of its pages. */
export const matchingRecords = async (
  query: string,
  sources: ConsoleSources,
  now: Date,
): Promise<readonly Extraction[]> => {
  const filter = parseFilter(new URLSearchParams(query));
  const { records } = await readMatching(filter, { sources, state: await readState(sources) }, now);
  return records;
};

/** The filter of a query, without the page and what a form did. */
const filterOf = (query: URLSearchParams): string => {
  const filter = new URLSearchParams(query);
  for (const name of ['page', 'did']) filter.delete(name);
  return filter.toString();
};

export const listPage = async (
  query: URLSearchParams,
  { sources, state, actions }: ListDeps,
  links: Links,
  now: Date,
): Promise<Content> => {
  const filter = parseFilter(query);
  const { sweepEveryMinutes } = sources;
  const { lists, all, records } = await readMatching(filter, { sources, state }, now);
  const offered = isFiltered(filter) ? actions.filter(({ isFor = () => true }) => records.some(isFor)) : [];
  const page = pageOf(query, records);
  const tried = page.shown.filter(isTried).slice(0, maxTried);
  const tries = valueIn(await readPart(() => sources.tries(tried.map(({ extractionId }) => extractionId))));
  const progress = { held: heldIn(state), trying: new Map(tries), rate: valueIn(state.rate) };
  return {
    title: 'Extractions',
    model: [query.toString(), lists, tries, countOverdue(records, { now, sweepEveryMinutes })],
    body: (at) => html`
${showStrip(state, links, at)}
<div class="lead"><h1 id="result" tabindex="-1">${headline(records, lists, isFiltered(filter), { now: at, sweepEveryMinutes })}</h1><p class="counts">${counts(records, { now: at, sweepEveryMinutes })}</p></div>
${failures(records, query)}
${filterForm(filter, links)}${searched(filter, all)}
${showPart(lists.open, 'Open extractions', () => html``)}
${showPart(lists.recent, 'Extractions that ended', () => html``)}
${showPart(lists.referenced, 'Extractions with this reference', () => html``)}
${showPart(lists.batched, 'Extractions of this batch', () => html``)}
${records.length === 0 ? html`<p class="empty">No extraction matches.</p>` : table(page.shown, progress, { now: at, sweepEveryMinutes }, links)}
${showPager(query, page)}
${showActions(offered, filterOf(query), links)}
${limits(lists)}`,
  };
};
