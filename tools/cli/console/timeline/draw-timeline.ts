import { scaleLinear, scaleUtc } from 'd3-scale';
import type { Extraction } from '../../../../lib/extraction/record.ts';
import { type Lane, lanes, type StoryLine } from '../../explain/story.ts';
import { formatOffset } from '../format-for-page.ts';
import {
  foldedSpans,
  lengthOf,
  type Placed,
  type Span,
  type SpanLook,
  statusSpans,
  timeOf,
} from './timeline-spans.ts';

export type Bar = SpanLook & { readonly x: number; readonly width: number; readonly isExpected: boolean };

/** One or several things that happened at almost the same time, or one that is expected. */
export type Mark = {
  readonly x: number;
  readonly indexes: readonly number[];
  readonly lines: readonly StoryLine[];
  readonly isExpected: boolean;
};

/** Bars and marks would cover each other, so a lane may have several rows. Only the first has its name. */
export type Row = { readonly name: string; readonly bars: readonly Bar[]; readonly marks: readonly Mark[] };
export type Tick = { readonly x: number; readonly text: string };
export type Drawing = {
  readonly ticks: readonly Tick[];
  readonly rows: readonly Row[];
  /** Where the scale ends and what is expected begins. That part has no scale, only an order. */
  readonly now?: number;
};

export const drawingWidth = 1_000;

/** The part of it that has what is expected next, and how many times fit into it. */
const expectedWidth = 260;
const maxExpected = 3;

/** Marks closer than this would cover each other. */
const closest = 20;

const ticksOf = (length: number, width: number): readonly Tick[] => {
  const time = scaleUtc([new Date(0), new Date(length)], [0, width]);
  return time.ticks(6).map((at) => ({ x: time(at), text: formatOffset(at.getTime()) }));
};

/** Bars that overlap are in rows below each other. */
const packed = (bars: readonly Bar[]): readonly (readonly Bar[])[] => {
  const rows: Bar[][] = [];
  for (const bar of bars) {
    const row = rows.find((one) =>
      one.every(({ x, width }) => x + width <= bar.x + 0.5 || x >= bar.x + bar.width),
    );
    if (row === undefined) rows.push([bar]);
    else row.push(bar);
  }
  return rows;
};

/** Marks from left to right. One that is too close to the one before it joins it. */
const joined = (marks: readonly Mark[]): readonly Mark[] => {
  const all: Mark[] = [];
  for (const mark of marks) {
    const last = all.at(-1);
    if (last === undefined || mark.x - last.x >= closest || mark.isExpected !== last.isExpected)
      all.push(mark);
    else {
      const indexes = [...last.indexes, ...mark.indexes];
      all[all.length - 1] = { ...last, indexes, lines: [...last.lines, ...mark.lines] };
    }
  }
  return all;
};

type DrawInput = {
  readonly lines: readonly StoryLine[];
  readonly record: Extraction | undefined;
  readonly now: Date;
};

/** The next times at which something is expected, in the order in which they come. */
const expectedTimes = (lines: readonly StoryLine[], now: number): readonly number[] => {
  const times = lines
    .flatMap(({ at, until, nextAt }) => [at, until, nextAt])
    .flatMap((time) => (time === undefined || timeOf(time) <= now ? [] : [timeOf(time)]));
  return [...new Set(times)].toSorted((one, other) => one - other).slice(0, maxExpected);
};

/**
 * Places a story on a scale of time. Up to now the scale is linear: a distance is a duration. What is expected next
 * follows in its order, without a scale, as it may be hours away.
 */
export const drawTimeline = ({ lines, record, now }: DrawInput): Drawing => {
  const start = timeOf(lines[0]?.at ?? now.toISOString());
  const nowMs = now.getTime() - start;
  const isOpen = record?.dueShard !== undefined;
  const length = lengthOf(lines, isOpen, now);
  const expected = isOpen ? expectedTimes(lines, now.getTime()).map((at) => at - start) : [];
  const width = expected.length === 0 ? drawingWidth : drawingWidth - expectedWidth;
  const scale = scaleLinear([0, length], [0, width]);
  const clamped = scale.copy().clamp(true);
  const expectedX = (ms: number): number =>
    width + (expectedWidth * (expected.filter((one) => one <= ms).length - 0.25)) / maxExpected;
  const barsOf = ({ from, to, ...rest }: Span): readonly Bar[] => {
    const x = clamped(from);
    const past =
      from > Math.min(length, nowMs)
        ? []
        : [{ ...rest, x, width: Math.max(2, clamped(to) - x), isExpected: false }];
    const isAwaited = expected.length > 0 && to > nowMs;
    const future = isAwaited
      ? [{ ...rest, x: width, width: Math.max(2, expectedX(to) - width), isExpected: true }]
      : [];
    return [...past, ...future];
  };
  const markOf = (line: Placed): readonly Mark[] => {
    const at = timeOf(line.at) - start;
    const mark = { indexes: [line.index], lines: [line] };
    if (at > nowMs) return expected.includes(at) ? [{ ...mark, x: expectedX(at), isExpected: true }] : [];
    return at > length ? [] : [{ ...mark, x: scale(at), isExpected: false }];
  };
  const rowsOf = (name: string, spans: readonly Span[], marks: readonly Mark[]): readonly Row[] => {
    const rows = [
      ...packed(spans.flatMap(barsOf)).map((bars) => ({ bars, marks: [] })),
      ...(marks.length === 0 ? [] : [{ bars: [], marks: joined(marks) }]),
    ];
    return rows.map((row, index) => ({ name: index === 0 ? name : '', ...row }));
  };
  /** A try that would hardly be seen as a bar is a mark. */
  const isShort = ({ kind, count, from, to }: Span): boolean =>
    kind === 'try' && count === undefined && scale(to) - scale(from) < closest;
  const laneRows = (lane: Lane): readonly Row[] => {
    const own = lines.flatMap((line, index) => (line.lane === lane ? [{ ...line, index }] : []));
    const spans = foldedSpans(own, start);
    const asMarks = spans.filter(isShort).map(({ index }) => index);
    const points = own.filter(
      ({ until, since, index }) => (until === undefined && since === undefined) || asMarks.includes(index),
    );
    const bars = spans.filter((span) => !isShort(span));
    return rowsOf(lane, bars, points.flatMap(markOf));
  };
  const status = record === undefined ? [] : rowsOf('status', statusSpans(record, now, start), []);
  const expectedTicks = expected.map((at) => ({
    x: expectedX(at),
    text: new Date(start + at).toISOString().slice(11, 19),
  }));
  return {
    ticks: [
      ...ticksOf(length, width).filter(({ x }) => expected.length === 0 || x < width - 40),
      ...expectedTicks,
    ],
    rows: [...status, ...lanes.flatMap(laneRows)],
    ...(expected.length === 0 ? {} : { now: width }),
  };
};
