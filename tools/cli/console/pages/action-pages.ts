import { html } from 'hono/html';
import type { ActionResult, ConsoleAction } from '../actions.ts';
import { type Html, shown } from '../shown.ts';
import type { Links } from './content.ts';

/** Reasons are kept and shown, so they are short. */
export const longestInput = 200;

const back = (subject: string, { place }: ConsoleAction, links: Links): Html => {
  if (place === 'sandbox') return html`<a href="${links.sandbox()}">Back to the sandbox</a>`;
  if (place === 'health') return html`<a href="${links.health()}">Back to health</a>`;
  return html`<a href="${links.extraction(subject)}">Back to the extraction</a>`;
};

/** The hidden fields that confirm an action once. */
export const confirmation = (subject: string, token: string): Html => html`
<input type="hidden" name="subject" value="${subject}"><input type="hidden" name="token" value="${token}">`;

/** The actions that a page offers. Each leads to a page that asks first. */
export const showActions = (actions: readonly ConsoleAction[], subject: string, links: Links): Html =>
  actions.length === 0
    ? html``
    : html`<p class="buttons">${actions.map(
        ({ id, label }) =>
          html`<a class="button" href="${links.action(id, subject === '' ? undefined : subject)}">${label}</a> `,
      )}</p>`;

/** Asks before an action. Nothing has happened yet. */
export const confirmPage = (
  action: ConsoleAction,
  subject: string,
  token: string,
  links: Links,
): Html => html`
<h1>${action.label}?</h1>
${subject === '' ? '' : html`<p class="mono">${shown(subject)}</p>`}
<p>${action.effect}</p>
<form method="post" action="${links.action(action.id)}">
${confirmation(subject, token)}
${
  action.input === undefined
    ? ''
    : html`<p><label>${action.input}<br><input name="input" required maxlength="${longestInput}" autocomplete="off"></label></p>`
}
<p class="buttons"><button class="primary" type="submit">${action.label}</button> ${back(subject, action, links)}</p>
</form>`;

/** What an action did. */
export const donePage = (
  action: ConsoleAction,
  subject: string,
  { text, extractionId, link }: ActionResult,
  links: Links,
): Html => html`
<h1>${action.label}: done</h1>
<p>${shown(text, 600)}</p>
${link === undefined ? '' : html`<p><a class="button" href="${link.url}" rel="noreferrer">${link.label}</a></p>`}
<p class="buttons">${
  extractionId === undefined ? '' : html`<a href="${links.extraction(extractionId)}">Open the extraction</a> `
}${back(subject, action, links)}</p>`;

/** Why an action was not done. */
export const refusedPage = (action: ConsoleAction, subject: string, why: string, links: Links): Html => html`
<h1>${action.label}: not done</h1>
<p class="missing">${shown(why, 600)}</p>
<p>${back(subject, action, links)}</p>`;
