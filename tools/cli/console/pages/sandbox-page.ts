import { html } from 'hono/html';
import type { ConsoleAction } from '../actions/action-types.ts';
import { type Html, shown } from '../format-for-page.ts';
import { confirmation, showNotice } from './action-pages.ts';
import { icon } from './icons-and-badges.ts';
import { type Content, notFoundPage, type Page } from './page-content-and-links.ts';

/** A button with what it does. What it did stands beside it. */
const button = (action: ConsoleAction, { issueToken, notice, links }: Page): Html => html`
<li><form method="post" action="${links.action(action.id)}">${confirmation('', issueToken(action.id))}
<button type="submit">${action.label}</button> <span class="effect">${shown(action.effect, 300)}</span></form>${
  notice?.id === action.id ? showNotice(notice, links) : ''
}</li>`;

export const sandboxPage = async (page: Page): Promise<Content> => {
  const { notice, links } = page;
  const actions = page.actions.filter(({ place }) => place === 'sandbox');
  if (actions.length === 0) return notFoundPage(links);
  const { active } = (await page.sandboxState?.()) ?? { active: [] };
  const groups = Map.groupBy(
    actions.filter(({ endsFaults }) => endsFaults !== true),
    ({ group = 'Other' }) => group,
  );
  const ends = actions.filter(({ endsFaults }) => endsFaults === true);
  const isOfEnd = ends.some(({ id }) => id === notice?.id);
  const now = active.length === 0 ? 'It behaves as usual.' : 'It misbehaves:';
  return {
    title: 'Sandbox',
    model: active,
    showsNotice: true,
    body: () => html`
${isOfEnd && active.length === 0 ? showNotice(notice, links) : ''}
<h1>Here the provider is played on this machine. ${now}</h1>
${
  active.length === 0
    ? ''
    : html`<ul class="findings active">${active.map((text) => html`<li><span class="status bad">${icon('alert')}</span><div>${shown(text, 200)}</div></li>`)}
${ends.map((action) => button(action, page))}</ul>`
}
<p class="note">Each button acts on this stage and on the sandbox of the provider that <code>npm start</code> runs, and on no real bank. The extraction it starts is on the first page at once.</p>
${[...groups].map(
  ([name, all]) =>
    html`<h2>${name}</h2><ul class="scenarios">${all.map((action) => button(action, page))}</ul>`,
)}`,
  };
};
