import { expect, test } from 'vitest';
import {
  drawingWidth,
  drawTimeline,
  rangeIn,
  wholeRange,
  zoomsOf,
} from '../../../../../tools/cli/console/draw-timeline.ts';
import type { StoryLine } from '../../../../../tools/cli/explain/story.ts';
import { at, closedExtraction, extractionIn, iso } from '../../../../support/extraction-fixtures.ts';

const line = (seconds: number, more: Partial<StoryLine> = {}): StoryLine => ({
  at: iso(seconds),
  lane: 'machine',
  who: 'Step Functions',
  what: 'something',
  ...more,
});

const draw = (lines: readonly StoryLine[], from: number, to: number, record = extractionIn('RUNNING')) =>
  drawTimeline({ lines, record, range: { from, to }, now: at(100) });

test('a distance is a duration', () => {
  const { rows } = draw([line(0), line(25), line(100)], 0, 100_000);
  const marks = rows.find(({ name }) => name === 'machine')?.marks.map(({ x }) => x);
  expect(marks).toEqual([0, drawingWidth / 4, drawingWidth]);
});

test('what lasts is a bar above the marks of its lane, cut off at the range', () => {
  const { rows } = draw([line(0), line(10, { until: iso(500) }), line(50)], 0, 100_000);
  const [bars, marks] = rows.slice(rows.findIndex(({ name }) => name === 'machine'));
  expect(bars).toMatchObject({ name: 'machine', marks: [], bars: [{ x: 100, width: 900, index: 1 }] });
  expect(marks).toMatchObject({ name: '', bars: [], marks: [{ x: 0 }, { x: 500 }] });
});

test('lines that are too close to tell apart are one mark, and a closer range separates them', () => {
  const lines = [line(0), line(50), line(50.1), line(50.2), line(90)];
  const marksIn = (from: number, to: number) =>
    draw(lines, from, to)
      .rows.find(({ name }) => name === 'machine')
      ?.marks.map(({ indexes }) => indexes);
  expect(marksIn(0, 100_000)).toEqual([[0], [1, 2, 3], [4]]);
  expect(marksIn(50_000, 51_000)).toEqual([[1], [2], [3]]);
});

test('the statuses of the record are bars that follow each other, the last one until it was closed', () => {
  const barsOf = (record: Parameters<typeof draw>[3]) =>
    draw([line(0)], 0, 100_000, record).rows.find(({ name }) => name === 'status')?.bars;
  expect(barsOf(extractionIn('RUNNING'))).toMatchObject([
    { label: 'REQUESTED', x: 0, width: 10 },
    { label: 'STARTING', x: 10, width: 10 },
    { label: 'RUNNING', x: 20, width: 980 },
  ]);
  const times = { startingAt: iso(1), startedAt: iso(2), settledAt: iso(30), collectedAt: iso(40) };
  const closed = barsOf(closedExtraction({ status: 'COMPLETED', ...times }));
  expect(closed?.at(-1)).toMatchObject({ label: 'COMPLETED', x: 300, width: 100 });
});

test('the whole range ends with the last line, or now for an open extraction; the future is not drawn', () => {
  const lines = [line(0), line(5, { until: iso(5_000) }), line(30), line(9_000)];
  expect(wholeRange(lines, false, at(100))).toEqual({ from: 0, to: 100_000 });
  expect(wholeRange(lines.slice(2, 3), false, at(100))).toEqual({ from: 0, to: 20 });
  expect(wholeRange([line(0), line(30)], false, at(100))).toEqual({ from: 0, to: 30_000 });
  expect(wholeRange([line(0), line(30)], true, at(100))).toEqual({ from: 0, to: 100_000 });
});

const whole = { from: 0, to: 100_000 };

test.each([
  ['', whole],
  ['from=10&to=5', whole],
  ['from=x&to=9', whole],
  ['from=Infinity&to=9', whole],
  ['from=10&to=15', whole],
  ['from=-5&to=1e9', whole],
  ['from=100&to=5000.4', { from: 100, to: 5_000 }],
])('the range of "%s" is inside the whole one', (query, expected) => {
  expect(rangeIn(new URLSearchParams(query), whole)).toEqual(expected);
});

test('a zoom stays inside the whole range, and one that changes nothing is not offered', () => {
  expect(zoomsOf(whole, whole).map(([name]) => name)).toEqual(['Zoom in', 'First tenth', 'Last tenth']);
  const zooms = Object.fromEntries(zoomsOf({ from: 0, to: 10_000 }, whole));
  expect(zooms['Zoom out']).toEqual({ from: 0, to: 20_000 });
  expect(zooms.Later).toEqual({ from: 5_000, to: 15_000 });
  expect(zooms.Earlier).toBeUndefined();
  expect(zooms.All).toEqual(whole);
});

test('there are at most nine ticks, at round times', () => {
  for (const [to, step] of [
    [100, 20],
    [43_000, 10_000],
    [7_200_000, 900_000],
  ] as const) {
    const { ticks } = draw([line(0)], 0, to);
    expect(ticks.length).toBeLessThanOrEqual(9);
    expect(ticks[1]?.atMs).toBe(step);
  }
});
