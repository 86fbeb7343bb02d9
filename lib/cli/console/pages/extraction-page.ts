import { html } from 'hono/html';
import type { Extraction } from '../../../extraction/record.ts';
import { operatorView } from '../../describe-record.ts';
import type { ConsoleAction } from '../actions.ts';
import { describeNext } from '../describe-next.ts';
import { type Html, shown } from '../shown.ts';
import { type ConsoleSources, readPart } from '../sources.ts';
import { showActions } from './action-pages.ts';
import type { Content, Links } from './content.ts';
import { notFoundPage } from './message-page.ts';
import { showPart, statusBadge } from './parts.ts';

/** The record as `cosecha get` prints it. */
const facts = (record: Extraction): Html =>
  html`<dl class="facts">${Object.entries(operatorView(record)).map(
    ([name, value]) =>
      html`<dt>${name}</dt><dd>${shown(typeof value === 'string' ? value : JSON.stringify(value), 500)}</dd>`,
  )}</dl>`;

/** One extraction. */
export const extractionPage = async (
  extractionId: string,
  { sources, actions }: { readonly sources: ConsoleSources; readonly actions: readonly ConsoleAction[] },
  links: Links,
): Promise<Content> => {
  const part = await readPart(() => sources.record(extractionId));
  if (part.kind === 'read' && part.value === undefined) {
    return notFoundPage(links, `There is no extraction ${extractionId}.`);
  }
  return {
    title: extractionId.slice(0, 8),
    model: part,
    body: (now) =>
      showPart(part, 'The record', (record) =>
        record === undefined
          ? html``
          : html`
<div class="lead"><h1><span class="mono">${extractionId}</span></h1><p class="counts">${statusBadge(record.status)}</p></div>
<p>${describeNext(record, now)}</p>
${showActions(actions, extractionId, links)}
<h2>Record</h2>
${facts(record)}`,
      ),
  };
};
