import type { Extraction } from '../../../lib/extraction/record.ts';
import type { Lane, StoryLine } from '../explain/story.ts';

/** Lanes in the order in which an extraction goes through them. */
const laneOrder: readonly Lane[] = [
  'api',
  'record',
  'machine',
  'start',
  'provider',
  'webhook',
  'queue',
  'stream',
  'operator',
];

/** A part of a story's time, in milliseconds since its first line. */
export type Range = { readonly from: number; readonly to: number };

/** Something that lasts. `index` is that of its line in the story, if it has one. */
export type Bar = {
  readonly x: number;
  readonly width: number;
  readonly label: string;
  readonly index?: number;
};

/** One or several things that happened at almost the same time. */
export type Mark = {
  readonly x: number;
  readonly indexes: readonly number[];
  readonly lines: readonly StoryLine[];
};

/** Bars and marks would cover each other, so a lane that has both has two rows. */
export type Row = { readonly name: string; readonly bars: readonly Bar[]; readonly marks: readonly Mark[] };
export type Tick = { readonly x: number; readonly atMs: number };
export type Drawing = { readonly ticks: readonly Tick[]; readonly rows: readonly Row[] };

/** The drawing's width, without the names at its left. */
export const drawingWidth = 1_000;

/** Marks closer than this would cover each other. */
const closest = 20;

/** A range shorter than this shows nothing more. */
const shortestMs = 20;

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const tickSteps = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 6, 12, 24, 48, 168, 720, 2_400].map((count) => count * hour),
];

const timeOf = (at: string): number => new Date(at).getTime();

/** From the first line to the last one, or to now for an open extraction. What lies in the future is not drawn. */
export const wholeRange = (lines: readonly StoryLine[], isOpen: boolean, now: Date): Range => {
  const start = timeOf(lines[0]?.at ?? now.toISOString());
  const past = lines.filter(({ at }) => timeOf(at) <= now.getTime());
  const ends = past.flatMap(({ at, until = at }) => [timeOf(at), Math.min(timeOf(until), now.getTime())]);
  const last = Math.max(start, ...ends, isOpen ? now.getTime() : start);
  return { from: 0, to: Math.max(shortestMs, last - start) };
};

/** The range that a query names, inside the whole one. */
export const rangeIn = (query: URLSearchParams, whole: Range): Range => {
  const numberIn = (name: string): number => Number(query.get(name) ?? Number.NaN);
  const from = Math.max(whole.from, Math.round(numberIn('from')));
  const to = Math.min(whole.to, Math.round(numberIn('to')));
  return to - from >= shortestMs ? { from, to } : whole;
};

/** Where the links above the drawing lead. A link that would change nothing is left out. */
export const zoomsOf = (range: Range, whole: Range): readonly (readonly [name: string, to: Range])[] => {
  const width = range.to - range.from;
  const inside = (from: number, size: number): Range => {
    const start = Math.max(whole.from, Math.min(from, whole.to - size));
    return { from: Math.round(start), to: Math.round(Math.min(whole.to, start + size)) };
  };
  const tenth = Math.max(shortestMs, width / 10);
  const zooms: readonly (readonly [string, Range])[] = [
    ['Zoom in', inside(range.from + width / 4, Math.max(shortestMs, width / 2))],
    ['Zoom out', inside(range.from - width / 2, width * 2)],
    ['Earlier', inside(range.from - width / 2, width)],
    ['Later', inside(range.from + width / 2, width)],
    ['First tenth', inside(range.from, tenth)],
    ['Last tenth', inside(range.to - tenth, tenth)],
    ['All', whole],
  ];
  return zooms.filter(([, { from, to }]) => from !== range.from || to !== range.to);
};

const ticksOf = ({ from, to }: Range, scale: (ms: number) => number): readonly Tick[] => {
  const step = tickSteps.find((one) => (to - from) / one <= 8) ?? Math.ceil((to - from) / 8);
  const first = Math.ceil(from / step);
  const count = Math.floor(to / step) - first + 1;
  return Array.from({ length: count }, (_, index) => ({
    x: scale((first + index) * step),
    atMs: (first + index) * step,
  }));
};

type Span = { readonly from: number; readonly to: number; readonly label: string; readonly index?: number };

/** Each status of the record, from its own times. The last one lasts until the record was closed, or until now. */
const statusSpans = (record: Extraction, now: Date, start: number): readonly Span[] => {
  const { requestedAt, startingAt, startedAt, settledAt, collectedAt, status, dueShard } = record;
  const steps = [
    [requestedAt, 'REQUESTED'],
    [startingAt, 'STARTING'],
    [startedAt, 'RUNNING'],
    [settledAt, status],
  ] as const;
  const known = steps.flatMap(([at, label]) => (at === undefined ? [] : [{ at: timeOf(at), label }]));
  const end =
    collectedAt === undefined ? (dueShard === undefined ? undefined : now.getTime()) : timeOf(collectedAt);
  return known.map(({ at, label }, index) => ({
    from: at - start,
    to: Math.max(at, known[index + 1]?.at ?? end ?? at) - start,
    label,
  }));
};

/** Marks from left to right. One that is too close to the one before it joins it. */
const marksOf = (
  placed: readonly { readonly x: number; readonly index: number; readonly line: StoryLine }[],
): readonly Mark[] => {
  const marks: Mark[] = [];
  for (const { x, index, line } of placed) {
    const last = marks.at(-1);
    if (last !== undefined && x - last.x < closest) {
      marks[marks.length - 1] = {
        x: last.x,
        indexes: [...last.indexes, index],
        lines: [...last.lines, line],
      };
    } else {
      marks.push({ x, indexes: [index], lines: [line] });
    }
  }
  return marks;
};

export type DrawInput = {
  readonly lines: readonly StoryLine[];
  readonly record: Extraction | undefined;
  readonly range: Range;
  readonly now: Date;
};

/** Places a story on a scale of time. The scale is linear: a distance is a duration. */
export const drawTimeline = ({ lines, record, range, now }: DrawInput): Drawing => {
  const start = timeOf(lines[0]?.at ?? now.toISOString());
  const scale = (ms: number): number => ((ms - range.from) / (range.to - range.from)) * drawingWidth;
  const clamp = (ms: number): number => Math.min(Math.max(ms, range.from), range.to);
  const barsOf = (spans: readonly Span[]): readonly Bar[] =>
    spans
      .filter(({ from, to }) => to >= range.from && from <= range.to)
      .map(({ from, to, ...rest }) => ({
        ...rest,
        x: scale(clamp(from)),
        width: Math.max(2, scale(clamp(to)) - scale(clamp(from))),
      }));
  const row = (name: string, spans: readonly Span[], marks: readonly Mark[]): readonly Row[] => {
    const bars = barsOf(spans);
    if (bars.length === 0) return marks.length === 0 ? [] : [{ name, bars, marks }];
    return [{ name, bars, marks: [] }, ...(marks.length === 0 ? [] : [{ name: '', bars: [], marks }])];
  };
  const rowsOf = (lane: Lane): readonly Row[] => {
    const own = lines.flatMap((line, index) =>
      line.lane === lane ? [{ line, index, from: timeOf(line.at) - start }] : [],
    );
    const spans = own.flatMap(({ line: { until, what }, index, from }) =>
      until === undefined ? [] : [{ from, to: timeOf(until) - start, label: what, index }],
    );
    const points = own.filter(
      ({ line, from }) => line.until === undefined && from >= range.from && from <= range.to,
    );
    return row(
      lane,
      spans,
      marksOf(points.map(({ line, index, from }) => ({ line, index, x: scale(from) }))),
    );
  };
  const status = record === undefined ? [] : row('status', statusSpans(record, now, start), []);
  return { ticks: ticksOf(range, scale), rows: [...status, ...laneOrder.flatMap(rowsOf)] };
};
