import { html } from 'hono/html';
import type { Html } from '../format-for-page.ts';
import { hoursText, type Since, sinceChoices } from '../sources/select-extractions.ts';
import { focusOn } from './page-content-and-links.ts';

/** The query with other values. An empty one goes, and with each change the page of rows. */
export const withValues = (
  query: URLSearchParams,
  values: Readonly<Record<string, string>>,
  focus: string = focusOn.result,
): string => {
  const next = new URLSearchParams(query);
  for (const name of ['page', 'did']) next.delete(name);
  for (const [name, value] of Object.entries(values)) {
    if (value === '') next.delete(name);
    else next.set(name, value);
  }
  return `?${next}${focus}`;
};

/** A text that is a filter, often a count. The one that is chosen ends it. */
export const facet = (
  query: URLSearchParams,
  values: Readonly<Record<string, string>>,
  text: string,
  focus?: string,
): Html => {
  const isChosen = Object.entries(values).every(
    ([name, value]) => (query.get(name) ?? '').replace(/^any$/, '') === value,
  );
  const href = isChosen ? Object.fromEntries(Object.keys(values).map((name) => [name, ''])) : values;
  return html`<li><a class="facet" href="${withValues(query, href, focus)}"${isChosen ? html` aria-current="true"` : ''}>${text}</a></li>`;
};

export const facets = (name: string, items: readonly Html[]): Html =>
  items.length === 0 ? html`` : html`<ul class="facets" aria-label="${name}">${items}</ul>`;

/** How far back a page goes: the last hour, if none is chosen. */
export const sinceFacets = (query: URLSearchParams): Html =>
  facets(
    'How far back',
    sinceChoices.map((one: Since) => facet(query, { since: one === '1h' ? '' : one }, hoursText(one))),
  );

type Table = {
  /** Read by screen readers alone. */
  readonly caption: string;
  readonly columns: readonly string[];
  /** Classes, such as `cards` for rows that are cards on a phone. */
  readonly style?: string;
  /** Of the table that links lead to. */
  readonly id?: 'rows';
};

export const table = ({ caption, columns, style = '', id }: Table, rows: readonly Html[]): Html => html`
<table${id === undefined ? '' : html` id="${id}" tabindex="-1"`} class="rows ${style}"><caption class="hidden">${caption}</caption>
<thead><tr>${columns.map((name) => html`<th scope="col"><span class="cut">${name}</span></th>`)}</tr></thead>
<tbody>${rows}</tbody></table>`;
