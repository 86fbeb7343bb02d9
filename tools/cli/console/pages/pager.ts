import { html } from 'hono/html';
import type { Html } from '../format-for-page.ts';

/** More rows than fit on some screens, and few enough to draw at once. */
export const rowsOfPage = 300;

/** The rows of the page that a query names, which is the first one by default. */
export const pageOf = <Row>(query: URLSearchParams, rows: readonly Row[]) => {
  const pages = Math.max(1, Math.ceil(rows.length / rowsOfPage));
  const asked = Number(query.get('page') ?? '1');
  const page = Number.isInteger(asked) ? Math.min(Math.max(1, asked), pages) : 1;
  return { shown: rows.slice((page - 1) * rowsOfPage, page * rowsOfPage), page, pages };
};

/** Links to the pages before and after. The other parts of the query stay. */
export const showPager = (
  query: URLSearchParams,
  { page, pages }: { readonly page: number; readonly pages: number },
): Html => {
  if (pages === 1) return html``;
  const address = (to: number): string => {
    const next = new URLSearchParams(query);
    next.set('page', String(to));
    return `?${next}`;
  };
  return html`<nav class="pager" aria-label="Rows">
${page === 1 ? '' : html`<a class="button" href="${address(page - 1)}">Previous ${rowsOfPage}</a>`}
<span>Page ${page} of ${pages}</span>
${page === pages ? '' : html`<a class="button" href="${address(page + 1)}">Next ${rowsOfPage}</a>`}</nav>`;
};
