import { html } from 'hono/html';
import { userTextOf } from '../../../../lib/downstream/user-texts.ts';
import { isOverdue } from '../../../../lib/extraction/deadlines.ts';
import { type Extraction, entityOrProductOf } from '../../../../lib/extraction/record.ts';
import { currentAdvice } from '../../aws/find-extractions.ts';
import { maxAlike, runsOf } from '../../explain/format-story.ts';
import type { Story, StoryLine } from '../../explain/story.ts';
import { lastProblem, whatToDo } from '../../explain/what-to-do.ts';
import { holdOf } from '../../terminal/describe-hold.ts';
import { failureMeanings } from '../../terminal/extraction-failures.ts';
import { callerName, operatorView } from '../../terminal/operator-view.ts';
import type { ConsoleAction } from '../actions/action-types.ts';
import { describeLine, startOfLine } from '../describe-next.ts';
import {
  ago,
  clock,
  formatOffset,
  type Html,
  shown,
  showUserText,
  whole,
  withCode,
} from '../format-for-page.ts';
import { heldIn } from '../sources/read-state.ts';
import { type Part, readPart, valueIn } from '../sources/sources.ts';
import { drawTimeline } from '../timeline/draw-timeline.ts';
import { showActions } from './action-pages.ts';
import { facet, facets, table } from './facets-and-tables.ts';
import { icon, showPart, statusBadge } from './icons-and-badges.ts';
import { type Content, focusOn, notFoundPage, type Page } from './page-content-and-links.ts';
import { lookOf, timelineSvg } from './timeline-svg.ts';

type Parts = { readonly record: Part<Extraction | undefined>; readonly story: Part<Story | undefined> };

const factOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const definitions = (rows: readonly (readonly [name: string, value: Html | string])[]): Html =>
  html`<dl class="facts">${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;

/** What somebody who is woken by it asks first. */
const summary = (
  record: Extraction,
  story: Story | undefined,
  { state, command, links }: Page,
  now: Date,
): Html => {
  const { method, requestedBy, requestedAt, settledAt } = record;
  /** A link to all that share this name. */
  const named = (by: 'reference' | 'batch'): Html | string => {
    const name = record[by];
    const query = new URLSearchParams({ [by === 'batch' ? by : 'name']: name ?? '' });
    return name === undefined
      ? 'none'
      : html`<a href="${links.list()}?${query}${focusOn.result}">${whole(name)}</a>`;
  };
  const hold = holdOf(record, heldIn(state));
  const waiting = {
    command,
    isOverdue: isOverdue(record, now, state.sweepEveryMinutes),
    hold: hold && (hold.kind === 'paused' ? ('paused' as const) : ('held' as const)),
  };
  const took = Date.parse(settledAt ?? '') - Date.parse(requestedAt);
  const problem = failureMeanings(record).join('; ') || (lastProblem(record, story) ?? 'none');
  const text = userTextOf({ advice: currentAdvice(record), actionResults: record.actionResults });
  const startAt = startOfLine(record, valueIn(state.rate), now);
  return definitions([
    ...(startAt === undefined
      ? []
      : [['Start', `${describeLine(startAt, now)} (${startAt.slice(11, 19)}Z)`] as const]),
    ['What to do', withCode(whatToDo(record, waiting), 400)],
    ...(text === undefined ? [] : [['For the user', showUserText(text)] as const]),
    ['Last problem', withCode(problem, 400)],
    [method === 'consent' ? 'Product' : 'Entity', whole(entityOrProductOf(record))],
    ['Reference', named('reference')],
    ['Batch', named('batch')],
    ['Caller', html`${whole(callerName(requestedBy))} <span class="quiet">${whole(requestedBy)}</span>`],
    ['Method', method],
    ['How long', settledAt === undefined ? html`${ago(requestedAt, now, true)} so far` : formatOffset(took)],
  ]);
};

const facts = (record: Extraction): Html =>
  definitions(Object.entries(operatorView(record)).map(([name, value]) => [name, shown(factOf(value), 500)]));

const signOf = (line: StoryLine): Html => {
  const { style, sign } = lookOf([line]);
  return sign === undefined
    ? html``
    : html`<span class="status ${style}" title="${line.verdict ?? ''}">${icon(sign)}<span class="hidden"> ${line.verdict ?? ''}</span></span> `;
};

const retry = ({ attempt, nextAt }: StoryLine, now: Date): Html => {
  const parts = [
    attempt === undefined ? undefined : html`try ${attempt}`,
    nextAt === undefined ? undefined : html`next by ${clock(nextAt, now, 'millisecond')}`,
  ].filter((part) => part !== undefined);
  return html`${parts.map((part, index) => html`${index === 0 ? ' ' : ', '}<span class="quiet">${part}</span>`)}`;
};

const lineRow = (
  line: StoryLine & { readonly index: number },
  start: number,
  now: Date,
): Html => html`<tr id="line-${line.index}"${new Date(line.at) > now ? html` class="expected"` : ''}>
<td data-label="Time (UTC)">${clock(line.at, now, 'millisecond')} <span class="quiet">+${formatOffset(Math.max(0, new Date(line.at).getTime() - start))}</span></td>
<th data-label="Who" scope="row">${shown(line.source, 60)}</th>
<td data-label="What" class="text">${new Date(line.at) > now ? html`<span class="badge">expected</span> ` : ''}${signOf(line)}${shown(line.what, 300)}${
  line.until === undefined
    ? ''
    : html` <span class="quiet">until ${clock(line.until, now, 'millisecond')}</span>`
}${retry(line, now)}</td></tr>`;

/** How many lines each source has, as filters. */
const sourceFacets = (lines: readonly StoryLine[], query: URLSearchParams): Html => {
  const of = (source: string, text: string) => facet(query, { source }, text, focusOn.rows);
  const sources = Map.groupBy(lines, ({ source }) => source);
  return facets('Events by source', [
    of('', `${lines.length} all`),
    ...[...sources].map(([source, own]) => of(source, `${own.length} ${shown(source, 60)}`)),
  ]);
};

/** Equal lines are folded as `explain` folds them. The marks of those in between lead to the row that stands for them. */
const list = (lines: readonly StoryLine[], query: URLSearchParams, now: Date): Html => {
  const start = new Date(lines[0]?.at ?? 0).getTime();
  const source = query.get('source') ?? '';
  const unfolded = new URLSearchParams(query);
  unfolded.set('lines', 'all');
  const all = lines.map((line, index) => ({ ...line, index }));
  const isLeftOut = (line: StoryLine): boolean => source !== '' && line.source !== source;
  // The marks of those that are left out lead here.
  const leftOut = all.filter(isLeftOut).map(({ index }) => html`<span id="line-${index}"></span>`);
  const rows = runsOf(all.filter((line) => !isLeftOut(line))).map((run) => {
    const [first, ...rest] = run;
    const last = rest.at(-1);
    if (run.length <= maxAlike || query.get('lines') === 'all' || first === undefined || last === undefined) {
      return html`${run.map((line) => lineRow(line, start, now))}`;
    }
    const middle = rest.slice(0, -1);
    return html`${lineRow(first, start, now)}<tr class="folded"><td colspan="3">${middle.map(({ index }) => html`<span id="line-${index}"></span>`)}<a href="?${unfolded.toString()}#line-${middle[0]?.index}">${middle.length} more of these</a></td></tr>${lineRow(last, start, now)}`;
  });
  const columns = ['Time (UTC)', 'Who', 'What'];
  return html`${sourceFacets(lines, query)}${leftOut}${table({ id: 'rows', style: 'story', caption: 'What happened, in order of time', columns }, rows)}`;
};

const showEvents = (story: Story | undefined, { query, links }: Page, now: Date): Html => {
  if (story === undefined) return html`<p class="note">No place knows more than the record.</p>`;
  const { extractionId, lines, notShown } = story;
  const file = `${links.extraction(extractionId)}/story`;
  const missing = html`<div class="note"><p>Not shown:</p><ul>${notShown.map((part) => html`<li>${shown(part, 500)}</li>`)}</ul></div>`;
  return html`${lines.length === 0 ? '' : html`<div class="lead"><h2>Events</h2><p><span data-copy="${file}.txt"></span> <a href="${file}.txt">Text</a> · <a href="${file}.json">JSON</a></p></div>${list(lines, query, now)}`}${notShown.length === 0 ? '' : missing}`;
};

const headlineIn = ({ story, record }: Parts, extractionId: string): string => {
  const status = valueIn(record)?.status;
  return valueIn(story)?.headline ?? (status === undefined ? extractionId : `It is ${status}.`);
};

const statusIn = ({ story, record }: Parts): string =>
  valueIn(record)?.status ?? valueIn(story)?.status ?? 'UNKNOWN';

/** The actions that can do something for an extraction. Without a record, it is unknown which. */
const offeredOn = (actions: readonly ConsoleAction[], record: Extraction | undefined) =>
  actions.filter(
    ({ place, isFor }) =>
      place === 'extraction' && (isFor === undefined || record === undefined || isFor(record)),
  );

export const extractionPage = async (extractionId: string, page: Page): Promise<Content> => {
  const { sources, actions, links } = page;
  const [record, story] = await Promise.all([
    readPart(() => sources.record(extractionId)),
    readPart(() => sources.story(extractionId)),
  ]);
  const parts = { record, story };
  const known = valueIn(record);
  const isKnown = [record, story].some((part) => part.kind === 'unreadable' || part.value !== undefined);
  if (!isKnown) return notFoundPage(links, `The extraction ${extractionId} is unknown.`);
  return {
    title: extractionId.slice(0, 8),
    model: parts,
    body: (now) => html`
<p class="counts">${statusBadge(statusIn(parts))} <span class="mono">${extractionId}</span></p>
<h1>${withCode(headlineIn(parts, extractionId), 1_000)}</h1>
${showPart(story, 'The timeline', (value) => (value === undefined || value.lines.length === 0 ? html`` : timelineSvg(drawTimeline({ lines: value.lines, record: known, now }))))}
${showActions(offeredOn(actions, known), extractionId, links)}
${known === undefined ? '' : summary(known, valueIn(story), page, now)}
${story.kind === 'read' ? showEvents(story.value, page, now) : ''}
${showPart(record, 'The record', (value) => (value === undefined ? html`<p>There is no record any more.</p>` : html`<details><summary>The whole record</summary>${facts(value)}</details>`))}`,
  };
};
