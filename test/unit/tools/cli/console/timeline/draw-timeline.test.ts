import { expect, test } from 'vitest';
import { at, closedExtraction, extractionIn, iso } from '#support/data/extraction-fixtures.ts';
import { drawingWidth, drawTimeline } from '#tools/cli/console/timeline/draw-timeline.ts';
import { lengthOf } from '#tools/cli/console/timeline/timeline-spans.ts';
import type { StoryLine } from '#tools/cli/explain/story.ts';

const something = { lane: 'machine', source: 'Step Functions', what: 'something' } as const;
const line = (seconds: number, more: Partial<StoryLine> = {}): StoryLine => ({
  ...something,
  at: iso(seconds),
  ...more,
});

/** 100 s after its first line. */
const draw = (lines: readonly StoryLine[], record = extractionIn('RUNNING'), now = at(100)) =>
  drawTimeline({ lines, record, now });

const closed = closedExtraction({ status: 'COMPLETED' });

test('what lasts is a bar above the marks of its lane, cut off at the close', () => {
  const { rows } = draw([line(0), line(10, { until: iso(500) }), line(50)], closed);
  const [bars, marks] = rows.slice(rows.findIndex(({ name }) => name === 'machine'));
  expect(bars).toMatchObject({ name: 'machine', marks: [], bars: [{ kind: 'wait', index: 1 }] });
  expect((bars?.bars[0]?.x ?? 0) + (bars?.bars[0]?.width ?? 0)).toBeCloseTo(drawingWidth);
  expect(marks).toMatchObject({ name: '', bars: [], marks: [{ x: 0 }, { indexes: [2] }] });
});

test('a try, the wait for the next one and a hold are bars with words', () => {
  const tried = { since: iso(10), attempt: 1, nextAt: iso(60), verdict: 'failed', what: 'Busy.' } as const;
  const barsIn = (does: 'wait' | 'hold') =>
    draw([line(0), line(30, { ...tried, does })]).rows.flatMap(({ bars }) =>
      bars.filter(({ kind }) => kind !== 'status'),
    );
  expect(barsIn('wait')).toMatchObject([
    { kind: 'try', hasFailed: true, words: ['try 1: Busy.', 'try 1'] },
    { kind: 'wait', words: ['waits 30 s for the next try', 'waits 30 s', 'wait'] },
  ]);
  expect(barsIn('hold')[1]).toMatchObject({ kind: 'hold', words: [expect.any(String), 'held'] });
});

test('equal tries fold into one bar, and few are one each', () => {
  const polls = Array.from({ length: 8 }, (_, index) =>
    line(10 * index + 5, { since: iso(10 * index), attempt: index + 1, what: 'Polled: not yet.' }),
  );
  const triesIn = (count: number) =>
    draw([line(0), ...polls.slice(0, count)])
      .rows.flatMap(({ bars }) => bars)
      .filter(({ kind }) => kind === 'try')
      .map(({ words }) => words[0]);
  expect(triesIn(8)).toEqual(['8 times: Polled: not yet.']);
  expect(triesIn(2)).toEqual(['try 1: Polled: not yet.', 'try 2: Polled: not yet.']);
});

test('what is expected next is drawn after now, in its order', () => {
  const lines = [
    line(0, { until: iso(5_000) }),
    line(7_200, { lane: 'record', what: 'Ends it TIMED_OUT.' }),
    line(90_000, { lane: 'record', what: 'Removes it.' }),
  ];
  const { rows, now, ticks } = draw(lines);
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
  expect(draw(lines, closed).now).toBeUndefined();
});

test('statuses are bars to scale that follow each other, the last one until the record was closed', () => {
  const barsOf = (record?: Parameters<typeof draw>[1]) =>
    draw([line(0), line(100)], record).rows.find(({ name }) => name === 'status')?.bars;
  expect(barsOf()).toMatchObject([
    { words: ['REQUESTED'], x: 0, width: 10 },
    { words: ['STARTING'], x: 10, width: 10 },
    { words: ['RUNNING'], x: 20, width: 980 },
  ]);
  const times = { startingAt: iso(1), startedAt: iso(2), settledAt: iso(30), collectedAt: iso(40) };
  const bars = barsOf(closedExtraction({ status: 'COMPLETED', ...times }));
  expect(bars?.at(-1)).toMatchObject({ words: ['COMPLETED'], x: 300, width: 100 });
});

test('the scale ends now, and that of a closed extraction at its close', () => {
  const lines = [line(0), line(5, { until: iso(5_000) }), line(30), line(9_000)];
  expect(lengthOf(lines, true, at(100))).toBe(100_000);
  const late = [line(0), line(2), line(80, { lane: 'api' }), line(90, { lane: 'queue' })];
  expect(lengthOf(late, false, at(100))).toBe(2_000);
  expect(lengthOf(lines.slice(0, 1), false, at(100))).toBe(20);
});

test('there are at most eleven ticks, at round times', () => {
  const ticksTo = (to: number) =>
    draw([line(0)], extractionIn('RUNNING'), at(to / 1_000)).ticks.map(({ text }) => text);
  expect(ticksTo(100)).toEqual(['0 s', '20 ms', '40 ms', '60 ms', '80 ms', '100 ms']);
  expect(ticksTo(43_000)).toEqual(['0 s', '5 s', '10 s', '15 s', '20 s', '25 s', '30 s', '35 s', '40 s']);
  for (const to of [20, 999, 60_000, 120_000, 600_000, 8 * 3_600_000, 30 * 86_400_000])
    expect(ticksTo(to).length).toBeLessThanOrEqual(11);
});
