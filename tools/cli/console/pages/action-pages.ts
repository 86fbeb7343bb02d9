import { html } from 'hono/html';
import type { ConsoleAction, Notice } from '../actions/action-types.ts';
import { type Html, shown, withCode } from '../format-for-page.ts';
import { icon } from './icons-and-badges.ts';
import { focusOn, type Links } from './page-content-and-links.ts';

/** Reasons are kept and shown, so they are short. */
export const maxInput = 200;

/** The page that offers an action, to which its form returns. */
export const pageOfAction = ({ place }: ConsoleAction, subject: string, links: Links): string => {
  if (place === 'sandbox') return links.sandbox();
  if (place === 'list') return `${links.list()}?${subject}`;
  return place === 'health' ? links.health() : links.extraction(subject);
};

export const confirmation = (subject: string, token: string): Html => html`
<input type="hidden" name="subject" value="${subject}"><input type="hidden" name="token" value="${token}">`;

/** The actions that a page offers. Each leads to a page that asks first. */
export const showActions = (actions: readonly ConsoleAction[], subject: string, links: Links): Html =>
  actions.length === 0
    ? html``
    : html`<p class="buttons">${actions.map(
        ({ id, label }) =>
          html`<a id="action-${id}" class="button" href="${links.action(id, subject === '' ? undefined : subject)}${focusOn.result}">${label}</a> `,
      )}</p>`;

const showField = (label: string | undefined, attributes: Html): Html =>
  label === undefined
    ? html``
    : html`<p><label>${label}<br><input ${attributes} required autocomplete="off"></label></p>`;

type Confirming = { readonly subject: string; readonly about: string | undefined; readonly token: string };

export const confirmPage = (
  action: ConsoleAction,
  { subject, about, token }: Confirming,
  links: Links,
) => html`
<h1 id="result" tabindex="-1">${action.label}?</h1>
${subject === '' ? '' : html`<p class="mono">${shown(subject)}</p>`}
${about === undefined ? '' : html`<p>${shown(about, 600)}</p>`}
<p>${action.effect}</p>
<form method="post" action="${links.action(action.id)}">
${confirmation(subject, token)}
${showField(action.secret, html`name="secret" type="password"`)}${showField(action.input, html`name="input" maxlength="${maxInput}"`)}
<p class="buttons"><button class="primary" type="submit">${action.label}</button> <a class="button" href="${pageOfAction(action, subject, links)}${focusOn.action(action.id)}">Cancel</a></p>
</form>`;

export const showNotice = (notice: Notice | undefined, links: Links): Html => {
  if (notice === undefined) return html``;
  if (notice.kind === 'not-done') {
    return html`<div id="notice" tabindex="-1" class="notice bad" role="status">${icon('cross')} <p><strong>${notice.label}: not done.</strong> ${withCode(notice.explanation, 600)}</p></div>`;
  }
  const { text, extractionId, list, link } = notice.result;
  return html`<div id="notice" tabindex="-1" class="notice good" role="status">${icon('check')} <p><strong>${notice.label}: done.</strong> ${withCode(text, 600)}
${link === undefined ? '' : html` <a class="button" href="${link.url}" rel="noreferrer">${link.label}</a>`}${
  extractionId === undefined ? '' : html` <a href="${links.extraction(extractionId)}">Open the extraction</a>`
}${list === undefined ? '' : html` <a href="${links.list()}?${new URLSearchParams(list)}">Open the list</a>`}</p></div>`;
};
