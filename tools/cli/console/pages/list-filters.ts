import { html } from 'hono/html';
import { userTexts } from '../../../../lib/downstream/user-texts.ts';
import { type Extraction, entityOrProductOf } from '../../../../lib/extraction/record.ts';
import { currentAdvice } from '../../aws/find-extractions.ts';
import { plural } from '../../terminal/plural.ts';
import { type Html, shown, showUserText, whole } from '../format-for-page.ts';
import {
  adviceChoices,
  type Filter,
  groupFailures,
  hoursText,
  isFiltered,
  matches,
  methodChoices,
  type Standing,
  sinceChoices,
  statusChoices,
} from '../sources/select-extractions.ts';
import { facet, facets, withValues } from './facets-and-tables.ts';
import { icon, option } from './icons-and-badges.ts';
import { focusOn, type Links } from './page-content-and-links.ts';

const states = {
  any: 'all',
  open: 'open',
  overdue: 'overdue',
  line: 'in line',
  ended: 'ended',
  failed: 'failed',
} as const;

/** The rest are few each. */
const maxFacets = 6;

const topFacets = (name: string, items: readonly Html[]): Html =>
  facets(name, [
    ...items.slice(0, maxFacets),
    ...(items.length > maxFacets ? [html`<li class="quiet">${items.length - maxFacets} more</li>`] : []),
  ]);

/**
 * How many there are of each state, cause of failure and entity. Each count leaves out its own filter, so that the others can be
 * chosen from it.
 */
export const showCounts = (
  all: readonly Extraction[],
  {
    filter,
    query,
    standing,
  }: { readonly filter: Filter; readonly query: URLSearchParams; readonly standing: Standing },
): Html => {
  const count = (narrowed: Partial<Filter>) =>
    all.filter((record) => matches(record, { ...filter, ...narrowed }, standing));
  const ofState = (Object.keys(states) as (keyof typeof states)[]).map((status) => {
    const found = count({ status, cause: '' }).length;
    return facet(
      query,
      { status: status === 'any' ? '' : status, cause: '' },
      `${found.toLocaleString('en')} ${states[status]}`,
    );
  });
  const causes = groupFailures(count({ status: 'any', cause: '', subject: '' })).map(
    ({ cause, method, subject, count: failed, since }) =>
      facet(
        query,
        { status: 'failed', method, subject, cause },
        `${failed.toLocaleString('en')} ${whole(cause)} ${method === 'consent' ? 'of' : 'at'} ${whole(subject)} since ${since.slice(11, 16)}Z`,
      ),
  );
  const byAdvice = Map.groupBy(count({ advice: 'todo' }), currentAdvice);
  const ofAdvice = [...byAdvice]
    .toSorted(([, one], [, other]) => other.length - one.length)
    .map(([advice = '', some]) => facet(query, { advice }, `${some.length.toLocaleString('en')} ${advice}`));
  const subjects = [...Map.groupBy(count({ subject: '' }), entityOrProductOf)]
    .toSorted(([, one], [, other]) => other.length - one.length)
    .map(([subject, some]) =>
      facet(query, { subject }, `${some.length.toLocaleString('en')} ${whole(subject)}`),
    );
  const text =
    filter.advice === 'any' || filter.advice === 'todo' ? undefined : userTexts.advice[filter.advice];
  return html`<nav class="counts-by" aria-label="Counts as filters">${topFacets('By state', ofState)}${topFacets('By cause of failure', causes)}${topFacets('By advice', ofAdvice)}${topFacets('By entity or product', subjects)}</nav>${text === undefined ? '' : html`<p class="note">For the user: ${showUserText(text)}</p>`}`;
};

const label = (name: string, control: Html): Html => html`<label><span>${name}</span>${control}</label>`;

const text = (name: keyof Filter, filter: Filter): Html =>
  html`<input name="${name}" value="${shown(filter[name], 256)}" autocomplete="off">`;

const chipNames = {
  method: 'by',
  subject: 'entity or product',
  cause: 'cause',
  caller: 'caller',
  name: 'search',
  batch: 'batch',
  advice: 'advice',
  hour: 'hour or day (UTC)',
} as const satisfies Partial<Record<keyof Filter, string>>;

/** What is chosen, each with a link that ends it. */
const chips = (filter: Filter, query: URLSearchParams): readonly Html[] =>
  (Object.keys(chipNames) as (keyof typeof chipNames)[])
    .filter((name) => filter[name] !== '' && filter[name] !== 'any')
    .map(
      (name) =>
        html`<a class="chip" href="${withValues(query, { [name]: '' })}"><span class="hidden">Without </span>${chipNames[name]}: ${whole(filter[name])} ${icon('cross')}</a>`,
    );

/** One field that finds what is typed, the other filters behind one button, and what is chosen. */
export const filterForm = (filter: Filter, query: URLSearchParams, links: Links): Html => html`
<form class="filters" method="get" action="${links.list()}${focusOn.result}" role="search" aria-label="Filter extractions">
  <input id="name" name="name" value="${shown(filter.name, 256)}" autocomplete="off" aria-label="Search: id, task, reference, batch or caller" placeholder="Id, task, reference, batch or caller  ( / )"> <button type="submit">Search</button>
  <details class="more"><summary class="button">Filters</summary><div>
  ${label('Status', html`<select name="status">${statusChoices.map((one) => option(one, filter.status, one === 'line' ? 'in line' : one))}</select>`)}
  ${label('Method', html`<select name="method">${methodChoices.map((one) => option(one, filter.method))}</select>`)}
  ${label('Advice', html`<select name="advice">${adviceChoices.map((one) => option(one, filter.advice, one === 'todo' ? 'something to do' : one))}</select>`)}
  ${label('Entity or product', text('subject', filter))}
  ${label('Cause', text('cause', filter))}
  ${label('Caller', text('caller', filter))}
  ${label('Batch', text('batch', filter))}
  ${label('Hour or day (UTC)', text('hour', filter))}
  ${label('Ended in', html`<select name="since">${sinceChoices.map((one) => option(one, filter.since, hoursText(one)))}</select>`)}
  <button type="submit">Filter</button></div></details>
  ${chips(filter, query)}${isFiltered(filter) ? html` <a class="reset" href="${links.list()}${focusOn.result}">Reset</a>` : ''}
</form>`;

/** What a search left out, as an empty list may otherwise seem to prove that there is nothing. */
export const searched = (filter: Filter, all: readonly Extraction[]): Html =>
  isFiltered(filter)
    ? html`<p class="note">Searched: ${plural(all.length, 'extraction')} that ${all.length === 1 ? 'is' : 'are'} open or ended in ${filter.hour === '' ? hoursText(filter.since) : 'that time'}. Any older one is found by its whole id, task, reference or batch alone.</p>`
    : html``;
