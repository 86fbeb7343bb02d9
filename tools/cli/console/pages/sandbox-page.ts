import { html } from 'hono/html';
import type { ConsoleAction, Notice, SandboxState } from '../actions/action-types.ts';
import { type Html, shown } from '../format-for-page.ts';
import { confirmation, showNotice } from './action-pages.ts';
import { icon } from './icons-and-badges.ts';
import type { Links } from './page-content-and-links.ts';

type SandboxPanel = SandboxState & {
  readonly actions: readonly ConsoleAction[];
  readonly issueToken: (actionId: string) => string;
  readonly notice: Notice | undefined;
};

/** A button with what it does. What it did stands beside it. */
const button = (action: ConsoleAction, { issueToken, notice }: SandboxPanel, links: Links): Html => html`
<li><form method="post" action="${links.action(action.id)}">${confirmation('', issueToken(action.id))}
<button type="submit">${action.label}</button> <span class="effect">${shown(action.effect, 300)}</span></form>${
  notice?.id === action.id ? showNotice(notice, links) : ''
}</li>`;

export const sandboxPage = (panel: SandboxPanel, links: Links): Html => {
  const { actions, active, notice } = panel;
  const groups = Map.groupBy(
    actions.filter(({ endsFaults }) => endsFaults !== true),
    ({ group = 'Other' }) => group,
  );
  const ends = actions.filter(({ endsFaults }) => endsFaults === true);
  const isOfEnd = ends.some(({ id }) => id === notice?.id);
  return html`
${isOfEnd && active.length === 0 ? showNotice(notice, links) : ''}
<div class="lead"><h1>${active.length === 0 ? 'Make something happen.' : 'The provider misbehaves.'}</h1></div>
${
  active.length === 0
    ? html`<p class="note">The provider behaves as usual. Each button acts on the sandbox of the provider that <code>npm start</code> runs. The extraction it starts is on the first page at once.</p>`
    : html`<ul class="findings active">${active.map((text) => html`<li><span class="status bad">${icon('alert')}</span><div>${shown(text, 200)}</div></li>`)}
${ends.map((action) => button(action, panel, links))}</ul>`
}
${[...groups].map(
  ([name, all]) =>
    html`<h2>${name}</h2><ul class="scenarios">${all.map((action) => button(action, panel, links))}</ul>`,
)}`;
};
