import { html } from 'hono/html';
import type { Html } from '../format-for-page.ts';

/** One page, without its frame. */
export type Content = {
  readonly title: string;
  /** Everything that the page shows but ages. A live page is sent again when this changes. */
  readonly model: unknown;
  readonly body: (now: Date) => Html;
  /** Default 200. */
  readonly status?: 404;
};

/** How pages refer to each other: each path starts with the secret of the address. */
export type Links = {
  readonly list: () => string;
  readonly extraction: (extractionId: string) => string;
  readonly deliveries: () => string;
  readonly health: () => string;
  readonly sandbox: () => string;
  /** Where an action is confirmed. */
  readonly action: (id: string, subject?: string) => string;
  readonly asset: (name: string) => string;
  /** The events of a page, which is named by its own path and query. */
  readonly live: (page: string) => string;
};

export const linksFrom = (token: string): Links => ({
  list: () => `/${token}/`,
  extraction: (extractionId) => `/${token}/extractions/${encodeURIComponent(extractionId)}`,
  deliveries: () => `/${token}/deliveries`,
  health: () => `/${token}/health`,
  sandbox: () => `/${token}/sandbox`,
  action: (id, subject) =>
    `/${token}/actions/${id}${subject === undefined ? '' : `?subject=${encodeURIComponent(subject)}`}`,
  asset: (name) => `/${token}/assets/${name}`,
  live: (page) => `/${token}/live?page=${encodeURIComponent(page)}`,
});

/** A page for what does not exist. */
export const notFoundPage = (links: Links, what = 'There is no such page.'): Content => ({
  title: 'Not found',
  model: what,
  status: 404,
  body: () => html`<h1>${what}</h1><p><a href="${links.list()}">All extractions</a></p>`,
});
