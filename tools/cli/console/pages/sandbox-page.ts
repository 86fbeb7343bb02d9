import { html } from 'hono/html';
import type { ConsoleAction } from '../actions.ts';
import { type Html, shown } from '../shown.ts';
import { confirmation } from './action-pages.ts';
import type { Links } from './content.ts';

const button = (action: ConsoleAction, token: string, links: Links): Html => html`
<li><form method="post" action="${links.action(action.id)}">${confirmation('', token)}
<button type="submit">${action.label}</button> <span class="effect">${shown(action.effect, 300)}</span></form></li>`;

/** Drives the sandbox of the provider: an extraction of every outcome, and every misbehaviour. */
export const sandboxPage = (
  actions: readonly ConsoleAction[],
  issueToken: (actionId: string) => string,
  links: Links,
): Html => {
  const groups = Map.groupBy(actions, ({ group = 'Other' }) => group);
  return html`
<div class="lead"><h1>Make something happen.</h1></div>
<p class="note">Each button acts on the sandbox of the provider that <code>npm start</code> runs. The extraction it starts is on the first page at once.</p>
${[...groups].map(
  ([name, all]) =>
    html`<h2>${name}</h2><ul class="scenarios">${all.map((action) => button(action, issueToken(action.id), links))}</ul>`,
)}`;
};
