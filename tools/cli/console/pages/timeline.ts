import { html } from 'hono/html';
import type { StoryLine } from '../../explain/story.ts';
import { type Bar, type Drawing, drawingWidth, type Mark, type Row, type Tick } from '../draw-timeline.ts';
import { type Html, shown } from '../shown.ts';

const nameWidth = 84;
const margin = 16;
const rowHeight = 30;
const axisHeight = 26;

/** `250 ms`, `1.25 s`, `2 min 5 s`, `3 h 20 min`. */
export const formatOffset = (ms: number): string => {
  if (ms === 0) return '0 s';
  if (ms < 1_000) return `${ms} ms`;
  if (ms < 60_000) return `${Number((ms / 1_000).toFixed(2))} s`;
  const minutes = Math.floor(ms / 60_000);
  const seconds = Math.round((ms % 60_000) / 1_000);
  if (minutes < 60) return seconds === 0 ? `${minutes} min` : `${minutes} min ${seconds} s`;
  const rest = minutes % 60;
  return rest === 0 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 60)} h ${rest} min`;
};

const xOf = (x: number): string => (nameWidth + margin + x).toFixed(1);

/** The sign of a mark shows its verdict, and its colour repeats it. */
export const lookOf = (lines: readonly StoryLine[]): { readonly style: string; readonly sign: string } => {
  if (lines.some(({ verdict }) => verdict === 'failed')) return { style: 'bad', sign: '▲' };
  if (lines.some(({ verdict }) => verdict === 'refused')) return { style: 'bad', sign: '✕' };
  if (lines.some(({ verdict }) => verdict === 'ok')) return { style: 'good', sign: '✓' };
  return { style: 'plain', sign: '' };
};

const describe = ({ at, who, what }: StoryLine): string => `${at.slice(11, 23)} ${who}: ${shown(what, 160)}`;

/** A letter is up to 7.5 units wide. A text that does not fit would run into the next one. */
const fitting = (text: string, width: number): string => (text.length * 7.5 + 12 <= width ? text : '');

const bar = ({ x, width, label, index }: Bar, y: number): Html => {
  const shape = html`<title>${shown(label, 160)}</title>
<rect class="span" x="${xOf(x)}" y="${y + 5}" width="${width.toFixed(1)}" height="${rowHeight - 10}" rx="4"/>
<text class="on-span" x="${xOf(x + 6)}" y="${y + rowHeight / 2 + 4}">${fitting(shown(label, 100), width)}</text>`;
  return index === undefined ? html`<g>${shape}</g>` : html`<a href="#line-${index}">${shape}</a>`;
};

const mark = ({ x, indexes, lines }: Mark, y: number): Html => {
  const { style, sign } = lookOf(lines);
  const middle = y + rowHeight / 2;
  const text = lines.length > 1 ? String(lines.length) : sign;
  return html`<a href="#line-${indexes[0]}"><title>${lines.map(describe).join('\n')}</title>
<circle class="mark ${style}" cx="${xOf(x)}" cy="${middle}" r="${text === '' ? 6 : 9}"/>
<text class="in-mark" x="${xOf(x)}" y="${middle + 4}">${text}</text></a>`;
};

const rowOf = ({ name, bars, marks }: Row, index: number): Html => {
  const y = axisHeight + index * rowHeight;
  return html`${
    name === ''
      ? ''
      : html`<line class="between" x1="0" x2="${nameWidth + 2 * margin + drawingWidth}" y1="${y}" y2="${y}"/>`
  }<text class="row-name" x="4" y="${y + rowHeight / 2 + 4}">${name}</text>${bars.map((one) => bar(one, y))}${marks.map((one) => mark(one, y))}`;
};

const tickLine = ({ x, atMs }: Tick, height: number): Html => html`
<line class="tick" x1="${xOf(x)}" x2="${xOf(x)}" y1="${axisHeight - 7}" y2="${height}"/>
<text class="tick-name" x="${xOf(x)}" y="13">${formatOffset(atMs)}</text>`;

/** A story on a scale of time. The list below it has the same in words. */
export const timelineSvg = ({ rows, ticks }: Drawing): Html => {
  const height = axisHeight + rows.length * rowHeight + 4;
  const width = nameWidth + 2 * margin + drawingWidth;
  return html`
<div class="timeline" tabindex="0" role="region" aria-label="Timeline, drawn to scale" data-keep-scroll>
<svg viewBox="0 0 ${width} ${height}" role="group" aria-label="Each mark leads to its line in the list">
${ticks.map((tick) => tickLine(tick, height))}
${rows.map(rowOf)}
</svg></div>`;
};
