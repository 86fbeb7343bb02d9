import { html } from 'hono/html';
import { isOverdue } from '../../../../lib/extraction/deadlines.ts';
import { type Extraction, entityOrProductOf } from '../../../../lib/extraction/record.ts';
import { describeNext } from '../describe-next.ts';
import { ago, type Html, plural, shortId, shown } from '../format-for-page.ts';
import { hoursText, sinceChoices, startOf } from '../query.ts';
import {
  distinct,
  type Filter,
  groupFailures,
  idIn,
  isFiltered,
  isOpen,
  methodChoices,
  parseFilter,
  selectExtractions,
  statusChoices,
  taskIdIn,
} from '../sources/select-extractions.ts';
import { type Breaker, type ConsoleSources, readPart, valueIn } from '../sources/sources.ts';
import type { Content, Links } from './content.ts';
import { type DeploymentState, heldIn, holdOf, showStrip } from './deployment-state.ts';
import { pageOf, showPager } from './pager.ts';
import { icon, option, showPart, statusBadge } from './parts.ts';

/** What decides which records are overdue. */
type Clock = { readonly now: Date; readonly sweepEveryMinutes: number };

const countOverdue = (records: readonly Extraction[], { now, sweepEveryMinutes }: Clock): number =>
  records.filter((record) => isOverdue(record, now, sweepEveryMinutes)).length;

const readLists = async (sources: ConsoleSources, { open }: DeploymentState, filter: Filter, now: Date) => {
  const since = startOf(filter.since, now);
  const id = idIn(filter);
  const taskId = taskIdIn(filter);
  const { name } = filter;
  const [recent, named, referenced] = await Promise.all([
    readPart(() => sources.recent(since)),
    readPart(
      async () =>
        (id === undefined ? undefined : await sources.record(id)) ??
        (taskId === undefined ? undefined : sources.recordOfTask(taskId)),
    ),
    readPart(async () => (name === '' ? { items: [], complete: true } : sources.withReference(name))),
  ]);
  return { open, recent, named, referenced };
};

type Lists = Readonly<Awaited<ReturnType<typeof readLists>>>;

/** The records of all parts. Of one that is in several, the last is used: the recent ones may be a minute old. */
const recordsIn = ({ open, recent, named, referenced }: Lists, since: string): readonly Extraction[] => [
  ...(valueIn(recent)?.items ?? []).filter(
    (record) => isOpen(record) || (record.settledAt ?? record.requestedAt) >= since,
  ),
  ...(valueIn(open) ?? []),
  ...(valueIn(referenced)?.items ?? []),
  ...[valueIn(named) ?? []].flat(),
];

const label = (name: string, control: Html): Html => html`<label><span>${name}</span>${control}</label>`;

const filterForm = (filter: Filter, links: Links): Html => html`
<form class="filters" method="get" action="${links.list()}" role="search" aria-label="Filter extractions">
  ${label('Status', html`<select name="status">${statusChoices.map((one) => option(one, filter.status))}</select>`)}
  ${label('Method', html`<select name="method">${methodChoices.map((one) => option(one, filter.method))}</select>`)}
  ${label('Entity or product', html`<input name="subject" value="${shown(filter.subject, 256)}" autocomplete="off">`)}
  ${label('Id, task or reference', html`<input id="name" name="name" value="${shown(filter.name, 256)}" autocomplete="off">`)}
  ${label(
    'Ended within',
    html`<select name="since">${sinceChoices.map((one) => option(one, filter.since, hoursText(one)))}</select>`,
  )}
  <button type="submit">Filter</button> <a class="reset" href="${links.list()}">Reset</a>
</form>`;

const row = (record: Extraction, held: readonly Breaker[], clock: Clock, links: Links): Html => {
  const { now, sweepEveryMinutes } = clock;
  const { extractionId, status, method, reference } = record;
  const overdue = isOverdue(record, now, sweepEveryMinutes);
  return html`<tr data-key="${extractionId}" class="${overdue ? 'overdue' : isOpen(record) ? 'open' : 'ended'}">
<td data-label="Status">${overdue ? html`<span class="late">${icon('alert')} overdue</span> ` : ''}${statusBadge(status)}</td>
<th data-label="Extraction" scope="row"><a href="${links.extraction(extractionId)}" title="${extractionId}">${shortId(extractionId)}</a></th>
<td data-label="Method">${method}</td>
<td data-label="Entity or product" class="text">${shown(entityOrProductOf(record), 60)}</td>
<td data-label="Reference" class="text">${reference === undefined ? html`<span class="none">–</span>` : shown(reference, 60)}</td>
<td data-label="Requested">${ago(record.requestedAt, now)}</td>
<td data-label="${isOpen(record) ? 'Next' : 'End'}" class="next">${describeNext(record, clock, holdOf(record, held))}</td>
</tr>`;
};

const table = (
  records: readonly Extraction[],
  held: readonly Breaker[],
  clock: Clock,
  links: Links,
): Html => html`
<table class="rows extractions">
<caption class="hidden">Extractions, the overdue first, then the open, then those that ended</caption>
<thead><tr><th scope="col">Status</th><th scope="col">Extraction</th><th scope="col">Method</th><th scope="col">Entity or product</th><th scope="col">Reference</th><th scope="col">Requested</th><th scope="col">What happens next, or how it ended</th></tr></thead>
<tbody>${records.map((record) => row(record, held, clock, links))}</tbody>
</table>`;

const counts = (records: readonly Extraction[], clock: Clock): string => {
  const open = records.filter(isOpen).length;
  const overdue = countOverdue(records, clock);
  const ended = records.length - open;
  return [
    `${open.toLocaleString('en')} open`,
    `${overdue.toLocaleString('en')} overdue`,
    `${ended.toLocaleString('en')} ended`,
  ].join(' · ');
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
const mostGroups = 6;

/** `12 failed: 9 TIMEOUT_ERROR at demo-bank`. Each group leads to its entity's failures. */
const failures = (records: readonly Extraction[], query: URLSearchParams): Html => {
  const groups = groupFailures(records);
  if (groups.length === 0) return html``;
  const total = groups.reduce((sum, { count }) => sum + count, 0);
  const link = (subject: string): string => {
    const narrowed = new URLSearchParams(query);
    narrowed.set('status', 'failed');
    narrowed.set('subject', subject);
    narrowed.delete('page');
    return `?${narrowed}`;
  };
  const shownGroups = groups.slice(0, mostGroups);
  const more = groups.length - shownGroups.length;
  return html`<p class="failures">${total.toLocaleString('en')} failed:${shownGroups.map(
    ({ cause, method, subject, count }, index) =>
      html`${index === 0 ? ' ' : ', '}<a href="${link(subject)}">${count.toLocaleString('en')} ${shown(cause, 80)} ${method === 'consent' ? 'of' : 'at'} ${shown(subject, 60)}</a>`,
  )}${more === 0 ? '' : `, and ${plural(more, 'other cause')}`}.</p>`;
};

const limits = (lists: Lists): Html => {
  const [referenced, recent] = [valueIn(lists.referenced), valueIn(lists.recent)];
  return html`${
    referenced?.complete === false
      ? html`<p class="note">Of those with this reference, only the newest ${referenced.items.length} were read. <code>cosecha list --reference</code> finds all.</p>`
      : ''
  }${
    recent?.complete === false
      ? html`<p class="note">Of those that ended, only the newest ${plural(recent.items.length, 'execution')} were read.</p>`
      : ''
  }`;
};

/** What is open, what is overdue, and what ended in the last hours. */
export const listPage = async (
  query: URLSearchParams,
  { sources, state }: { readonly sources: ConsoleSources; readonly state: DeploymentState },
  links: Links,
  now: Date,
): Promise<Content> => {
  const filter = parseFilter(query);
  const lists = await readLists(sources, state, filter, now);
  const since = startOf(filter.since, now).toISOString();
  const { sweepEveryMinutes } = sources;
  const records = selectExtractions(distinct(recordsIn(lists, since)), filter, (record) =>
    isOverdue(record, now, sweepEveryMinutes),
  );
  const page = pageOf(query, records);
  return {
    title: 'Extractions',
    model: [query.toString(), lists, countOverdue(records, { now, sweepEveryMinutes })],
    body: (at) => html`
${showStrip(state, links, at)}
<div class="lead"><h1>${headline(records, lists, isFiltered(filter), { now: at, sweepEveryMinutes })}</h1><p class="counts">${counts(records, { now: at, sweepEveryMinutes })}</p></div>
${failures(records, query)}
${filterForm(filter, links)}
${showPart(lists.open, 'Open extractions', () => html``)}
${showPart(lists.recent, 'Extractions that ended', () => html``)}
${showPart(lists.referenced, 'Extractions with this reference', () => html``)}
${records.length === 0 ? html`<p class="empty">No extraction matches.</p>` : table(page.shown, heldIn(state), { now: at, sweepEveryMinutes }, links)}
${showPager(query, page)}
${limits(lists)}`,
  };
};
