import { expect, test } from 'vitest';
import { drawingWidth, drawTimeline } from '../../../../../../tools/cli/console/timeline/draw-timeline.ts';
import { rangeIn, wholeRange, zoomsOf } from '../../../../../../tools/cli/console/timeline/timeline-range.ts';
import type { StoryLine } from '../../../../../../tools/cli/explain/story.ts';
import { at, closedExtraction, extractionIn, iso } from '../../../../../support/data/extraction-fixtures.ts';

const something = { lane: 'machine', source: 'Step Functions', what: 'something' } as const;
const line = (seconds: number, more: Partial<StoryLine> = {}): StoryLine => ({
  ...something,
  at: iso(seconds),
  ...more,
});

const draw = (lines: readonly StoryLine[], from: number, to: number, record = extractionIn('RUNNING')) =>
  drawTimeline({ lines, record, range: { from, to }, now: at(100) });

test('what lasts is a bar above the marks of its lane, cut off at the range', () => {
  const { rows } = draw([line(0), line(10, { until: iso(500) }), line(50)], 0, 90_000);
  const [bars, marks] = rows.slice(rows.findIndex(({ name }) => name === 'machine'));
  expect(bars).toMatchObject({ name: 'machine', marks: [], bars: [{ kind: 'wait', index: 1 }] });
  expect((bars?.bars[0]?.x ?? 0) + (bars?.bars[0]?.width ?? 0)).toBeCloseTo(drawingWidth);
  expect(marks).toMatchObject({ name: '', bars: [], marks: [{ x: 0 }, { indexes: [2] }] });
});

test('a try, the wait for the next one and a hold are bars with words', () => {
  const tried = { since: iso(10), attempt: 1, nextAt: iso(60), verdict: 'failed', what: 'Busy.' } as const;
  const barsIn = (does: 'wait' | 'hold') =>
    draw([line(0), line(30, { ...tried, does })], 0, 90_000).rows.flatMap(({ bars }) =>
      bars.filter(({ kind }) => kind !== 'status'),
    );
  expect(barsIn('wait')).toMatchObject([
    { kind: 'try', hasFailed: true, words: ['try 1: Busy.', 'try 1'] },
    { kind: 'wait', words: ['waits 30 s for the next try', 'waits 30 s', 'wait'] },
  ]);
  expect(barsIn('hold')[1]).toMatchObject({ kind: 'hold', words: [expect.any(String), 'held'] });
});

test('equal tries fold into one bar, and a closer range shows each', () => {
  const polls = Array.from({ length: 8 }, (_, index) =>
    line(10 * index + 5, { since: iso(10 * index), attempt: index + 1, what: 'Polled: not yet.' }),
  );
  const triesIn = (from: number, to: number) =>
    draw([line(0), ...polls], from, to)
      .rows.flatMap(({ bars }) => bars)
      .filter(({ kind }) => kind === 'try')
      .map(({ words }) => words[0]);
  expect(triesIn(0, 90_000)).toEqual(['8 times: Polled: not yet.']);
  expect(triesIn(0, 19_000)).toEqual(['try 1: Polled: not yet.', 'try 2: Polled: not yet.']);
});

test('what is expected next is drawn after now, in its order', () => {
  const lines = [
    line(0, { until: iso(5_000) }),
    line(7_200, { lane: 'record', what: 'Ends it TIMED_OUT.' }),
    line(90_000, { lane: 'record', what: 'Removes it.' }),
  ];
  const { rows, now, ticks } = draw(lines, 0, 100_000);
  const inLane = (lane: string) => rows.find(({ name }) => name === lane);
  expect(now).toBe(740);
  expect(inLane('machine')?.bars).toMatchObject([
    { x: 0, width: 740, isExpected: false },
    { x: 740, isExpected: true },
  ]);
  expect(inLane('record')?.marks).toMatchObject([
    { indexes: [1], isExpected: true, x: expect.closeTo(891.7, 1) },
    { indexes: [2], isExpected: true, x: expect.closeTo(978.3, 1) },
  ]);
  expect(ticks.slice(-3).map(({ text }) => text)).toEqual(['13:23:20', '14:00:00', '13:00:00']);
  expect(draw(lines, 0, 50_000).now).toBeUndefined();
});

test('statuses are bars to scale that follow each other, the last one until the record was closed', () => {
  const barsOf = (record?: Parameters<typeof draw>[3]) =>
    draw([line(0)], 0, 100_000, record).rows.find(({ name }) => name === 'status')?.bars;
  expect(barsOf()).toMatchObject([
    { words: ['REQUESTED'], x: 0, width: 10 },
    { words: ['STARTING'], x: 10, width: 10 },
    { words: ['RUNNING'], x: 20, width: 980 },
  ]);
  const times = { startingAt: iso(1), startedAt: iso(2), settledAt: iso(30), collectedAt: iso(40) };
  const closed = barsOf(closedExtraction({ status: 'COMPLETED', ...times }));
  expect(closed?.at(-1)).toMatchObject({ words: ['COMPLETED'], x: 300, width: 100 });
});

test('the whole range ends now, and that of a closed extraction at its close', () => {
  const lines = [line(0), line(5, { until: iso(5_000) }), line(30), line(9_000)];
  expect(wholeRange(lines, true, at(100))).toEqual({ from: 0, to: 100_000 });
  const closed = [line(0), line(2), line(80, { lane: 'api' }), line(90, { lane: 'queue' })];
  expect(wholeRange(closed, false, at(100))).toEqual({ from: 0, to: 2_000 });
  expect(wholeRange(lines.slice(0, 1), false, at(100))).toEqual({ from: 0, to: 20 });
});

const whole = { from: 0, to: 100_000 };

test.each([
  ['from=10&to=5', whole],
  ['from=x&to=9', whole],
  ['from=10&to=15', whole],
  ['from=-5&to=1e9', whole],
  ['from=100&to=5000.4', { from: 100, to: 5_000 }],
])('the range of "%s" is inside the whole one', (query, expected) => {
  expect(rangeIn(new URLSearchParams(query), whole)).toEqual(expected);
});

test('a zoom goes where events are close together, and there again', () => {
  const lines = [0, 0.1, 0.2, 1, 42, 42.1, 43, 100].map((seconds) => line(seconds));
  expect(zoomsOf(lines, whole, whole)).toEqual([
    { range: { from: 0, to: 1_100 }, events: 4 },
    { range: { from: 41_900, to: 43_100 }, events: 3 },
  ]);
  expect(zoomsOf(lines, { from: 0, to: 1_100 }, whole)).toEqual([{ range: { from: 0, to: 220 }, events: 3 }]);
});

test('there are at most eleven ticks, at round times', () => {
  const ticksTo = (to: number) => draw([line(0)], 0, to).ticks.map(({ text }) => text);
  expect(ticksTo(100)).toEqual(['0 s', '20 ms', '40 ms', '60 ms', '80 ms', '100 ms']);
  expect(ticksTo(43_000)).toEqual(['0 s', '5 s', '10 s', '15 s', '20 s', '25 s', '30 s', '35 s', '40 s']);
  for (const to of [20, 999, 60_000, 120_000, 600_000, 8 * 3_600_000, 30 * 86_400_000])
    expect(ticksTo(to).length).toBeLessThanOrEqual(11);
});
