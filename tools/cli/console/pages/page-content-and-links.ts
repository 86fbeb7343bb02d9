import { html } from 'hono/html';
import type { CommandText } from '../../terminal/command-text.ts';
import type { ConsoleAction, Notice, SandboxState } from '../actions/action-types.ts';
import type { Html } from '../format-for-page.ts';
import type { DeploymentState } from '../sources/read-state.ts';
import type { ConsoleSources } from '../sources/sources.ts';

/** What each page is made from. */
export type Page = {
  readonly query: URLSearchParams;
  readonly sources: ConsoleSources;
  readonly state: DeploymentState;
  /** Those of all pages. */
  readonly actions: readonly ConsoleAction[];
  readonly command: CommandText;
  readonly links: Links;
  readonly now: Date;
  /** What a form did. */
  readonly notice: Notice | undefined;
  readonly sandboxState?: () => Promise<SandboxState>;
  /** A token for the form of an action without a subject. */
  readonly issueToken: (actionId: string) => string;
};

/** One page, without its frame. */
export type Content = {
  readonly title: string;
  /** Everything that the page shows but ages. A live page is sent again when this changes. */
  readonly model: unknown;
  readonly body: (now: Date) => Html;
  readonly status?: 404;
  /** What it knows of our own trouble, for the line above it. */
  readonly ours?: readonly string[];
  /** It shows what a form did where that belongs. */
  readonly showsNotice?: true;
};

/**
 * Where the focus goes after a link or a form: browsers give it to the element that a fragment names. So a keyboard goes on
 * where the result is, and a screen reader reads it, also without script.
 */
export const focusOn = {
  /** The first line of a page, which answers its question. */
  result: '#result',
  /** What a form did. */
  notice: '#notice',
  /** The table of rows. */
  rows: '#rows',
  /** The button that a confirmation came from. */
  action: (id: string) => `#action-${id}`,
} as const;

/** How pages refer to each other: each path starts with the secret of the address. */
export const linksFrom = (token: string) => ({
  list: () => `/${token}/`,
  extraction: (extractionId: string) => `/${token}/extractions/${encodeURIComponent(extractionId)}`,
  deliveries: () => `/${token}/deliveries`,
  health: () => `/${token}/health`,
  line: () => `/${token}/line`,
  sandbox: () => `/${token}/sandbox`,
  /** Where an action is confirmed. */
  action: (id: string, subject?: string) =>
    `/${token}/actions/${id}${subject === undefined ? '' : `?subject=${encodeURIComponent(subject)}`}`,
  asset: (name: string) => `/${token}/assets/${name}`,
  /** The events of a page, which is named by its own path and query. */
  live: (page: string) => `/${token}/live?page=${encodeURIComponent(page)}`,
});
export type Links = Readonly<ReturnType<typeof linksFrom>>;

export const notFoundPage = (links: Links, what = 'There is no such page.'): Content => ({
  title: 'Not found',
  model: what,
  status: 404,
  body: () => html`<h1>${what}</h1><p><a href="${links.list()}">All extractions</a></p>`,
});

/** More rows than fit on some screens, and few enough to draw at once. */
const rowsOfPage = 300;

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
    return `?${next}${focusOn.rows}`;
  };
  return html`<nav class="pager" aria-label="Rows">
${page === 1 ? '' : html`<a class="button" href="${address(page - 1)}">Previous ${rowsOfPage}</a>`}
<span>Page ${page} of ${pages}</span>
${page === pages ? '' : html`<a class="button" href="${address(page + 1)}">Next ${rowsOfPage}</a>`}</nav>`;
};
