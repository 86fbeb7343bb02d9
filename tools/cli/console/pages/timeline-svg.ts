import { html } from 'hono/html';
import type { StoryLine } from '../../explain/story.ts';
import { type Html, shown } from '../format-for-page.ts';
import {
  type Bar,
  type Drawing,
  drawingWidth,
  type Mark,
  type Row,
  type Tick,
} from '../timeline/draw-timeline.ts';
import { appearanceOf, type IconName, icon } from './icons-and-badges.ts';

const nameWidth = 68;
const margin = 16;
const rowHeight = 30;
const axisHeight = 26;
const fullWidth = nameWidth + 2 * margin + drawingWidth;

const xOf = (x: number): string => (nameWidth + margin + x).toFixed(1);

/** The sign of a mark shows its verdict, and its colour repeats it. */
export const lookOf = (
  lines: readonly StoryLine[],
): { readonly style: string; readonly sign: IconName | undefined } => {
  if (lines.some(({ verdict }) => verdict === 'failed')) return { style: 'bad', sign: 'alert' };
  if (lines.some(({ verdict }) => verdict === 'refused')) return { style: 'bad', sign: 'cross' };
  if (lines.some(({ verdict }) => verdict === 'ok')) return { style: 'good', sign: 'check' };
  return { style: 'plain', sign: undefined };
};

const describe = ({ at, source, what }: StoryLine): string =>
  `${at.slice(11, 23)} ${source}: ${shown(what, 160)}`;

/** A letter is up to 7 units wide. A text that does not fit would run into the next one. */
const fits = (text: string, width: number): boolean => text.length * 7 + 12 <= width;

const styleOf = ({ kind, words, hasFailed, isExpected }: Bar): string => {
  const style = kind === 'status' ? appearanceOf(words[0] ?? '').kind : hasFailed === true ? 'bad' : kind;
  return isExpected ? `${style} expected` : style;
};

const bar = (one: Bar, y: number): Html => {
  const { x, width, words, index } = one;
  const text = words.find((word) => fits(word, width)) ?? '';
  const frame = html`x="${xOf(x)}" y="${y + 5}" width="${width.toFixed(1)}" height="${rowHeight - 10}" rx="4"`;
  const hatching = one.kind === 'hold' ? html`<rect class="hatching" ${frame}/>` : '';
  const shape = html`<title>${one.isExpected ? 'Expected: ' : ''}${shown(words[0] ?? '', 200)}</title>
<rect class="span ${styleOf(one)}" ${frame}/>${hatching}
<text class="on-span" x="${xOf(x + 6)}" y="${y + rowHeight / 2 + 4}">${shown(text)}</text>`;
  return index === undefined ? html`<g>${shape}</g>` : html`<a href="#line-${index}">${shape}</a>`;
};

const mark = ({ x, indexes, lines, isExpected }: Mark, y: number): Html => {
  const { style, sign } = lookOf(lines);
  const middle = y + rowHeight / 2;
  const several = lines.length > 1;
  const inside = several
    ? html`<text class="in-mark" x="${xOf(x)}" y="${middle + 4}">${lines.length}</text>`
    : sign === undefined
      ? ''
      : html`<use class="in-mark" href="#icon-${sign}" x="${xOf(x - 5)}" y="${middle - 5}" width="10" height="10"/>`;
  return html`<a href="#line-${indexes[0]}"><title>${isExpected ? 'Expected: ' : ''}${lines.map(describe).join('\n')}</title>
<circle class="mark ${style}${isExpected ? ' expected' : ''}" cx="${xOf(x)}" cy="${middle}" r="${several || sign !== undefined ? 9 : 6}"/>
${inside}</a>`;
};

const rowOf = ({ name, bars, marks }: Row, index: number): Html => {
  const y = axisHeight + index * rowHeight;
  return html`${
    name === '' ? '' : html`<line class="between" x1="0" x2="${fullWidth}" y1="${y}" y2="${y}"/>`
  }<text class="row-name" x="4" y="${y + rowHeight / 2 + 4}">${name}</text>${bars.map((one) => bar(one, y))}${marks.map((one) => mark(one, y))}`;
};

const tickLine = ({ x, text }: Tick, height: number): Html => html`
<line class="tick" x1="${xOf(x)}" x2="${xOf(x)}" y1="${axisHeight - 7}" y2="${height}"/>
<text class="tick-name" x="${xOf(x)}" y="13">${text}</text>`;

const nowLine = (x: number, height: number): Html => html`
<rect class="ahead" x="${xOf(x)}" y="${axisHeight - 7}" width="${drawingWidth - x + margin}" height="${height}"/>
<line class="now" x1="${xOf(x)}" x2="${xOf(x)}" y1="${axisHeight - 7}" y2="${height}"/>
<text class="tick-name" x="${xOf(x)}" y="13">now</text>`;

const keys = [
  ['wait', 'wait'],
  ['try', 'try'],
  ['bad', 'failed try'],
  ['hold', 'hold: no call is made'],
  ['expected', 'expected, in order and not to scale'],
] as const;

const legend = html`<ul class="legend">${keys.map(
  ([style, text]) =>
    html`<li><svg width="26" height="14" aria-hidden="true"><rect class="span ${style}" x="1" y="1" width="24" height="12" rx="3"/>${style === 'hold' ? html`<rect class="hatching" x="1" y="1" width="24" height="12" rx="3"/>` : ''}</svg> ${text}</li>`,
)}${(['check', 'cross', 'alert'] as const).map((sign, index) => html`<li><span class="status ${index === 0 ? 'good' : 'bad'}">${icon(sign)}</span> ${['done', 'refused', 'failed'][index]}</li>`)}<li>a number: so many lines</li></ul>`;

/** A story on a scale of time. The list below it has the same in words. */
export const timelineSvg = ({ rows, ticks, now }: Drawing): Html => {
  const height = axisHeight + rows.length * rowHeight + 4;
  return html`
<div class="drawn"><p class="goes-on source">The timeline goes on to the right: scroll it, or focus it and use the arrow keys.</p>
<div id="timeline" class="timeline" tabindex="0" role="region" aria-label="Timeline, drawn to scale up to now">
<svg viewBox="0 0 ${fullWidth} ${height}" role="group" aria-label="Each bar and mark leads to its line in the list">
${now === undefined ? '' : nowLine(now, height)}
${ticks.map((tick) => tickLine(tick, height))}
${rows.map(rowOf)}
</svg></div></div>${legend}`;
};
