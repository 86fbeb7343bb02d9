import { html } from 'hono/html';
import type { Html } from '../format-for-page.ts';

/** One page, without its frame. */
export type Content = {
  readonly title: string;
  /** Everything that the page shows but ages. A live page is sent again when this changes. */
  readonly model: unknown;
  readonly body: (now: Date) => Html;
  readonly status?: 404;
};

/** How pages refer to each other: each path starts with the secret of the address. */
export const linksFrom = (token: string) => ({
  list: () => `/${token}/`,
  extraction: (extractionId: string) => `/${token}/extractions/${encodeURIComponent(extractionId)}`,
  deliveries: () => `/${token}/deliveries`,
  health: () => `/${token}/health`,
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
