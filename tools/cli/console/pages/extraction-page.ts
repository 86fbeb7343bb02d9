import { html } from 'hono/html';
import type { Extraction } from '../../../../lib/extraction/record.ts';
import type { Story, StoryLine } from '../../explain/story.ts';
import { operatorView } from '../../terminal/describe-record.ts';
import type { ConsoleAction } from '../actions.ts';
import { drawTimeline, rangeIn, wholeRange, zoomsOf } from '../draw-timeline.ts';
import { type Html, shown, timeOfDay } from '../shown.ts';
import { type ConsoleSources, type Part, readPart } from '../sources.ts';
import { showActions } from './action-pages.ts';
import type { Content, Links } from './content.ts';
import { notFoundPage } from './message-page.ts';
import { showPart, statusBadge } from './parts.ts';
import { formatOffset, lookOf, timelineSvg } from './timeline.ts';

type Parts = { readonly record: Part<Extraction | undefined>; readonly story: Part<Story | undefined> };

const recordIn = ({ record }: Parts): Extraction | undefined =>
  record.kind === 'read' ? record.value : undefined;

/** The record as `cosecha get` prints it. */
const facts = (record: Extraction): Html =>
  html`<dl class="facts">${Object.entries(operatorView(record)).map(
    ([name, value]) =>
      html`<dt>${name}</dt><dd>${shown(typeof value === 'string' ? value : JSON.stringify(value), 500)}</dd>`,
  )}</dl>`;

const drawing = (lines: readonly StoryLine[], query: URLSearchParams, parts: Parts, now: Date): Html => {
  const record = recordIn(parts);
  const whole = wholeRange(lines, record?.dueShard !== undefined, now);
  const range = rangeIn(query, whole);
  const zooms = zoomsOf(range, whole).map(([name, { from, to }]) => {
    // "All" goes on with the time.
    const address = name === 'All' ? '?' : `?from=${from}&to=${to}`;
    return html`<li><a href="${address}">${name}</a></li>`;
  });
  return html`
<ul class="zooms" aria-label="Zoom">${zooms}<li class="quiet">${formatOffset(range.from)} to ${formatOffset(range.to)}</li></ul>
${timelineSvg(drawTimeline({ lines, record, range, now }))}`;
};

const signOf = (line: StoryLine): Html => {
  const { style, sign } = lookOf([line]);
  return sign === ''
    ? html``
    : html`<span class="status ${style}" title="${line.verdict ?? ''}"><span aria-hidden="true">${sign}</span><span class="hidden"> ${line.verdict ?? ''}</span></span> `;
};

const retry = ({ attempt, nextAt }: StoryLine): Html => {
  const parts = [
    attempt === undefined ? undefined : `try ${attempt}`,
    nextAt === undefined ? undefined : `next by ${timeOfDay(nextAt)}`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? html`` : html` <span class="quiet">${parts.join(', ')}</span>`;
};

const lineRow = (
  line: StoryLine,
  index: number,
  start: number,
  now: Date,
): Html => html`<tr id="line-${index}"${new Date(line.at) > now ? html` class="expected"` : ''}>
<td class="mono">${timeOfDay(line.at)} <span class="quiet">+${formatOffset(Math.max(0, new Date(line.at).getTime() - start))}</span></td>
<th scope="row">${shown(line.who, 60)}</th>
<td class="text">${new Date(line.at) > now ? html`<span class="badge">expected</span> ` : ''}${signOf(line)}${shown(line.what, 300)}${
  line.until === undefined ? '' : html` <span class="quiet">until ${timeOfDay(line.until)}</span>`
}${retry(line)}</td></tr>`;

const list = (lines: readonly StoryLine[], now: Date): Html => {
  const start = new Date(lines[0]?.at ?? 0).getTime();
  return html`<table class="rows story"><caption class="hidden">What happened, in order of time</caption>
<thead><tr><th scope="col">Time (UTC)</th><th scope="col">Who</th><th scope="col">What</th></tr></thead>
<tbody>${lines.map((line, index) => lineRow(line, index, start, now))}</tbody></table>`;
};

const showStory = (story: Story | undefined, query: URLSearchParams, parts: Parts, now: Date): Html => {
  if (story === undefined) return html`<p class="note">No place knows more than the record.</p>`;
  const { lines, notShown } = story;
  const missing = html`<div class="note"><p>Not shown:</p><ul>${notShown.map((part) => html`<li>${shown(part, 500)}</li>`)}</ul></div>`;
  return html`${lines.length === 0 ? '' : html`${drawing(lines, query, parts, now)}${list(lines, now)}`}
${notShown.length === 0 ? '' : missing}`;
};

const headlineIn = ({ story, record }: Parts, extractionId: string): string => {
  if (story.kind === 'read' && story.value !== undefined) return story.value.headline;
  return record.kind === 'read' && record.value !== undefined
    ? `It is ${record.value.status}.`
    : extractionId;
};

const statusIn = ({ story, record }: Parts): string => {
  if (record.kind === 'read' && record.value !== undefined) return record.value.status;
  return story.kind === 'read' && story.value !== undefined ? story.value.status : 'UNKNOWN';
};

export type ExtractionPageDeps = {
  readonly sources: ConsoleSources;
  readonly actions: readonly ConsoleAction[];
};

/** One extraction: what it waits for or why it ended, its timeline, and the record. */
export const extractionPage = async (
  extractionId: string,
  query: URLSearchParams,
  { sources, actions }: ExtractionPageDeps,
  links: Links,
): Promise<Content> => {
  const [record, story] = await Promise.all([
    readPart(() => sources.record(extractionId)),
    readPart(() => sources.story(extractionId)),
  ]);
  const parts = { record, story };
  const isKnown = [record, story].some((part) => part.kind === 'unreadable' || part.value !== undefined);
  if (!isKnown) return notFoundPage(links, `There is no extraction ${extractionId}.`);
  return {
    title: extractionId.slice(0, 8),
    model: parts,
    body: (now) => html`
<div class="lead"><p class="counts">${statusBadge(statusIn(parts))} <span class="mono">${extractionId}</span></p>
<p class="counts"><span data-copy="${links.extraction(extractionId)}/story.txt"></span> <a href="${links.extraction(extractionId)}/story.txt">Text</a> · <a href="${links.extraction(extractionId)}/story.json">JSON</a></p></div>
<h1>${shown(headlineIn(parts, extractionId), 1_000)}</h1>
${showActions(actions, extractionId, links)}
<h2>Timeline</h2>
${showPart(story, 'The timeline', (value) => showStory(value, query, parts, now))}
<h2>Record</h2>
${showPart(record, 'The record', (value) => (value === undefined ? html`<p>There is no record any more.</p>` : facts(value)))}`,
  };
};
