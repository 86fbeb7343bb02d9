import { html } from 'hono/html';
import type { Content, Links } from './content.ts';

/** A page for what does not exist. */
export const notFoundPage = (links: Links, what = 'There is no such page.'): Content => ({
  title: 'Not found',
  model: what,
  status: 404,
  body: () => html`<h1>${what}</h1><p><a href="${links.list()}">All extractions</a></p>`,
});
