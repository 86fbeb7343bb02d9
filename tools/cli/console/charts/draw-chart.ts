import { scaleLinear, scaleUtc } from 'd3-scale';
import { curveStepAfter, line, stack } from 'd3-shape';
import { html } from 'hono/html';
import type { Html } from '../format-for-page.ts';
import { table } from '../pages/facets-and-tables.ts';

type Values = readonly (number | undefined)[];

/** A class of the style sheet, which has a colour and a pattern or dashes for it. */
type Look = 'good' | 'mixed' | 'unknown' | 'bad' | 'open' | 'quiet';

export type ChartSeries = {
  readonly name: string;
  readonly look: Look;
  /** Bars are stacked in their order. A step keeps its value until the next one. */
  readonly shape: 'bar' | 'line' | 'step';
  readonly values: Values;
};

export type Chart = {
  readonly title: string;
  /** When each period begins, in milliseconds of the epoch, and how long it is. */
  readonly times: readonly number[];
  readonly periodMs: number;
  readonly series: readonly ChartSeries[];
  /** `42`, `1 min 5 s`: a value of the axis, of a tip and of the table. */
  readonly format: (value: number) => string;
  /** Where a click on a period leads. */
  readonly hrefOf?: (at: number) => string;
  /** What happened at a time, as a label above the bars. */
  readonly labels?: readonly { readonly at: number; readonly text: string }[];
  readonly width?: number;
  readonly height?: number;
  /** What would be here, where there is no value at all. */
  readonly empty: string;
};

const [leastLeft, right, top, bottom] = [40, 24, 14, 26];
const labelHeight = 16;

const timeOf = (at: number, periodMs: number): string =>
  new Date(at).toISOString().slice(11, periodMs < 60_000 ? 19 : 16);

/** A letter has 7 units. */
const widthOf = (text: string): number => 7 * text.length;

type Placed = { readonly at: number; readonly text: string; readonly row: number };

/** Labels in as many rows as keep them apart, of three. The last ones count more than the first. */
const placeLabels = (labels: Chart['labels'] = [], x: (at: number) => number): readonly Placed[] => {
  const ends: number[] = [];
  return labels.toReversed().flatMap(({ at, text }) => {
    const row = [0, 1, 2].find((one) => x(at) + widthOf(text) + 8 <= (ends[one] ?? Number.POSITIVE_INFINITY));
    if (row === undefined) return [];
    ends[row] = x(at);
    return [{ at, text, row }];
  });
};

const valueText = (value: number | undefined, format: Chart['format']): string =>
  value === undefined ? '–' : format(value);

/** The values of a period. Hover and focus show them, and screen readers read them. */
const showPeriod = (
  chart: Chart,
  index: number,
  [from, to]: readonly [number, number],
  size: readonly [number, number],
): Html => {
  const { times, periodMs, series, format, hrefOf } = chart;
  const at = times[index] ?? 0;
  const title = `${timeOf(at, periodMs)} to ${timeOf(at + periodMs, periodMs)}`;
  const rows = series.map(({ name, values }) => `${name}: ${valueText(values[index], format)}`);
  const [width, height] = size;
  const boxWidth = Math.max(...[title, ...rows].map(widthOf)) + 16;
  const x = from + boxWidth + 12 > width ? from - boxWidth - 4 : to + 4;
  const lines = [title, ...rows].map(
    (text, row) => html`<tspan x="${(x + 8).toFixed(1)}" dy="${row === 0 ? 0 : 15}">${text}</tspan>`,
  );
  const shape = html`<rect class="hit" x="${from.toFixed(1)}" y="${top}" width="${(to - from).toFixed(1)}" height="${height - top - bottom}"/>
<g class="tip"><rect x="${x.toFixed(1)}" y="${top}" width="${boxWidth}" height="${15 * lines.length + 12}" rx="4"/><text y="${top + 18}">${lines}</text></g>`;
  const label = `${title}: ${rows.join(', ')}`;
  return hrefOf === undefined
    ? html`<g class="period" tabindex="0" role="img" aria-label="${label}">${shape}</g>`
    : html`<a class="period" href="${hrefOf(at)}" aria-label="${label}">${shape}</a>`;
};

/** What failed is hatched too. */
const showBar = (look: Look | undefined, frame: Html): Html =>
  html`<rect class="fill ${look}" ${frame}/>${look === 'bad' ? html`<rect class="hatching" ${frame}/>` : ''}`;

const showBars = (
  bars: readonly ChartSeries[],
  x: (index: number) => readonly [number, number],
  y: (value: number) => number,
): Html => {
  const count = Math.max(0, ...bars.map(({ values }) => values.length));
  const layers = stack<number, string>()
    .keys(bars.map(({ name }) => name))
    .value((index, name) => bars.find((one) => one.name === name)?.values[index] ?? 0)(
    Array.from({ length: count }, (_, index) => index),
  );
  return html`${layers.map((layer) =>
    layer.map(([from, to], index) => {
      if (to <= from) return '';
      const [begin, end] = x(index);
      const gap = end - begin > 6 ? 1 : 0;
      const frame = html`x="${(begin + gap).toFixed(1)}" y="${y(to).toFixed(1)}" width="${(end - begin - 2 * gap).toFixed(1)}" height="${(y(from) - y(to)).toFixed(1)}"`;
      return showBar(bars[layer.index]?.look, frame);
    }),
  )}`;
};

const showLine = (
  { look, shape, values }: ChartSeries,
  x: (index: number) => readonly [number, number],
  y: (value: number) => number,
): Html => {
  const middle = (index: number): number =>
    shape === 'step' ? x(index)[0] : (x(index)[0] + x(index)[1]) / 2;
  const points = values.flatMap((value, index) =>
    value === undefined ? [] : [[middle(index), y(value)] as const],
  );
  const [first] = points;
  const last = points.at(-1);
  const drawn = line<readonly [number, number]>(
    ([one]) => one,
    ([, other]) => other,
  );
  if (shape === 'step' && last !== undefined) points.push([x(values.length - 1)[1], last[1]]);
  const path = (shape === 'step' ? drawn.curve(curveStepAfter) : drawn)(points) ?? '';
  // A line of one point has no length.
  const dot =
    points.length === 1 && first !== undefined
      ? html`<circle class="dot ${look}" cx="${first[0].toFixed(1)}" cy="${first[1].toFixed(1)}" r="3"/>`
      : '';
  return html`<path class="line ${look}" d="${path}"/>${dot}`;
};

/** The chart as an SVG. Everything but the tips is there without a pointer, and nothing needs a script. */
const showSvg = (chart: Chart): Html => {
  const { title, times, periodMs, series, format, width = 560, height = 170 } = chart;
  const end = (times.at(-1) ?? 0) + periodMs;
  const bars = series.filter(({ shape }) => shape === 'bar');
  const sums = times.map((_, index) => bars.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const others = series
    .filter(({ shape }) => shape !== 'bar')
    .flatMap(({ values }) => values.map((value) => value ?? 0));
  const max = Math.max(...sums, ...others) || 1;
  // A count has no halves.
  const isCount = series.every(({ values }) => values.every((one = 0) => Number.isInteger(one)));
  const marks = isCount ? Math.min(3, max) : 3;
  const value = scaleLinear([0, max], [height - bottom, top]).nice(marks);
  const left = Math.max(leastLeft, ...value.ticks(marks).map((tick) => widthOf(format(tick)))) + 12;
  const time = scaleUtc([new Date(times[0] ?? 0), new Date(end)], [left, width - right]);
  const placed = placeLabels(chart.labels, (at) => time(at));
  value.range([height - bottom, top + labelHeight * (1 + Math.max(-1, ...placed.map(({ row }) => row)))]);
  const x = (index: number) => [time(times[index] ?? 0), time((times[index] ?? 0) + periodMs)] as const;
  const ticks = time.ticks(width / 90);
  const text = time.tickFormat(width / 90, periodMs < 10_000 ? '%H:%M:%S' : '%H:%M');
  return html`<div class="scroll"${width > 560 ? html` tabindex="0" role="region" aria-label="${title}"` : ''}><svg class="chart${width > 560 ? ' wide' : ''}" viewBox="0 0 ${width} ${height}" role="group" aria-label="${title}, in UTC">
${value.ticks(marks).map((tick) => html`<line class="tick" x1="${left}" x2="${width - right}" y1="${value(tick).toFixed(1)}" y2="${value(tick).toFixed(1)}"/><text class="value" x="${left - 6}" y="${(value(tick) + 4).toFixed(1)}">${format(tick)}</text>`)}
${ticks.map((tick) => html`<text class="tick-name" x="${time(tick).toFixed(1)}" y="${height - 5}">${text(tick)}</text>`)}
${showBars(bars, x, value)}
${series.filter(({ shape }) => shape !== 'bar').map((one) => showLine(one, x, value))}
${placed.map(({ at, row }) => html`<line class="change" x1="${time(at).toFixed(1)}" x2="${time(at).toFixed(1)}" y1="${top + row * labelHeight}" y2="${height - bottom}"/>`)}
${placed.map(({ at, text: words, row }) => html`<text class="label" x="${(time(at) + 4).toFixed(1)}" y="${top + row * labelHeight + 11}">${words}</text>`)}
${times.map((_, index) => showPeriod(chart, index, x(index), [width, height]))}
</svg></div>`;
};

const showTable = ({ title, times, periodMs, series, format }: Chart): Html => {
  const rows = times.flatMap((at, index) =>
    series.some(({ values }) => (values[index] ?? 0) !== 0) ? [{ at, index }] : [],
  );
  const columns = ['From (UTC)', ...series.map(({ name }) => name)];
  const shownRows = rows
    .toReversed()
    .map(
      ({ at, index }) =>
        html`<tr><th scope="row">${timeOf(at, periodMs)}</th>${series.map(({ values }) => html`<td>${valueText(values[index], format)}</td>`)}</tr>`,
    );
  return html`<details><summary>As a table</summary><div class="scroll" tabindex="0" role="region" aria-label="${title}, as a table">${table({ caption: title, columns, style: 'narrow' }, shownRows)}</div></details>`;
};

const legend = ({ series, labels = [] }: Chart): Html =>
  html`<ul class="legend">${series.map(
    ({ name, look, shape }) =>
      html`<li><svg width="22" height="12" aria-hidden="true">${shape === 'bar' ? showBar(look, html`width="22" height="12"`) : html`<path class="line ${look}" d="M0 6H22"/>`}</svg> ${name}</li>`,
  )}${labels.length === 0 ? '' : html`<li><svg width="22" height="12" aria-hidden="true"><path class="change" d="M11 0V12"/></svg> a change, and why</li>`}</ul>`;

/** A chart with its legend, and its values as a table. */
export const showChart = (chart: Chart): Html => {
  const isEmpty = chart.series.every(({ values }) =>
    values.every((value) => value === undefined || value === 0),
  );
  return html`<figure class="charted"><figcaption>${chart.title}</figcaption>
${isEmpty ? html`<p class="empty">${chart.empty}</p>` : html`${showSvg(chart)}${legend(chart)}${showTable(chart)}`}</figure>`;
};
