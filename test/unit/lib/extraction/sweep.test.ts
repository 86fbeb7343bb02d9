import { describe, expect, test, vi } from 'vitest';
import { dueShardCount, dueShardOf } from '#lib/extraction/due.ts';
import { maxPerBatch, type ReconcileMessage } from '#lib/extraction/reconcile-message.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import { sweep } from '#lib/extraction/sweep.ts';
import { zeroFilledMetrics } from '#lib/observability/metric-names.ts';
import { clock, closedExtraction, extraction, iso } from '../../../support/data/extraction-fixtures.ts';
import { memoryTelemetry } from '../../../support/data/memory-telemetry.ts';
import { memoryExtractionStore } from '../../../support/stores/memory-extraction-store.ts';
import type { StoreCall, StoreFaults } from '../../../support/stores/store-fault.ts';

/** Ids that all fall into one partition. */
const idsOf = (shard: number, count: number): string[] => {
  const found: string[] = [];
  for (let index = 0; found.length < count; index += 1) {
    const candidate = `extraction-${index}`;
    if (dueShardOf(candidate) === shard) found.push(candidate);
  }
  return found;
};

const running = (extractionId: string, dueAt: string): Extraction =>
  extraction({ extractionId, status: 'RUNNING', taskId: 't', dueShard: dueShardOf(extractionId), dueAt });

const world = (
  records: readonly Extraction[],
  setup: {
    /** Called with each batch. Returns the messages that the queue refuses. */
    readonly send?: (messages: readonly ReconcileMessage[]) => readonly ReconcileMessage[];
    readonly remainingMs?: () => number;
    readonly faults?: StoreFaults;
    readonly random?: () => number;
  } = {},
) => {
  const extractions = memoryExtractionStore(setup.faults);
  for (const record of records) extractions.items.set(record.extractionId, record);
  const time = clock(1_000);
  const batches: (readonly ReconcileMessage[])[] = [];
  const failed: string[] = [];
  const counted: (readonly [string, number])[] = [];
  const publish = vi.fn();
  const run = () =>
    sweep({
      extractions,
      sendBatch: async (batch) => {
        const messages = batch.map(({ message }) => message);
        batches.push(messages);
        return setup.send?.(messages) ?? [];
      },
      now: time.now,
      random: setup.random ?? (() => 0),
      remainingMs: setup.remainingMs ?? (() => 300_000),
      reserveMs: 15_000,
      telemetry: {
        ...memoryTelemetry().telemetry,
        // A batch that failed as a whole names no record.
        failure: (what, _error, about) => void failed.push(about?.extractionId ?? what),
        count: (metric, { value = 1 } = {}) => void counted.push([metric, value]),
      },
      publish,
    });
  return {
    sweep: run,
    batches,
    sent: () => batches.flat().map(({ extractionId }) => extractionId),
    failed,
    counted,
    publish,
    extractions,
    dueAts: () => [...extractions.items.values()].map(({ dueAt }) => dueAt),
    time,
  };
};

test('every due record of every partition is sent once, for the dueAt of its lease, and no other', async () => {
  const due = Array.from({ length: 300 }, (_, index) => running(`due-${index}`, iso(1_000)));
  const later = Array.from({ length: 20 }, (_, index) => running(`later-${index}`, iso(1_000.001)));
  expect(new Set(due.map(({ dueShard }) => dueShard)).size).toBe(dueShardCount);
  const { sweep, sent, batches } = world([...due, ...later, closedExtraction({ extractionId: 'closed' })]);
  const result = await sweep();
  expect(sent().toSorted()).toEqual(due.map(({ extractionId }) => extractionId).toSorted());
  expect(batches.every((batch) => batch.length <= maxPerBatch)).toBe(true);
  expect(batches.flat().every(({ cause, dueAt }) => cause === 'sweep' && dueAt === iso(1_300))).toBe(true);
  expect(result).toEqual({ sent: 300, failed: 0, cutShort: false, oldestOverdueSeconds: 0 });
});

test('a partition that was read to its end is not queried again', async () => {
  const due = idsOf(3, 100).map((one) => running(one, iso(1_000)));
  const queries: string[] = [];
  const before = ({ method, key }: StoreCall) => void (method === 'due' && queries.push(key));
  const { sweep, sent } = world(due.slice(1), { faults: { before } });
  await sweep();
  expect([sent().length, queries.length]).toEqual([99, dueShardCount]);
});

// The first page ends between records that are due at the same time.
test('records that cannot be leased keep the sweep from none behind them, the oldest first', async () => {
  const ids = idsOf(5, 250).toSorted();
  const blocked = new Set(ids.slice(0, 100));
  let remaining = 300_000;
  let queries = 0;
  const { sweep, sent, failed, batches } = world(
    ids.map((extractionId, index) => running(extractionId, iso(Math.floor(index / 60)))).reverse(),
    {
      remainingMs: () => {
        remaining -= 1_000;
        return remaining;
      },
      faults: {
        before: ({ method, key }) => {
          if (method === 'due' && key === '5') queries += 1;
          if (method === 'apply' && blocked.has(key)) throw new Error('throttled');
        },
      },
    },
  );
  const overdue = { oldestOverdueSeconds: 999 };
  expect(await sweep()).toEqual({ sent: 150, failed: 100, cutShort: false, ...overdue });
  expect(sent()).toEqual(ids.slice(100));
  expect(failed).toEqual(ids.slice(0, 100));
  expect(batches.every(({ length }) => length > 0)).toBe(true);
  // The third page is not full, so it is the last.
  expect(queries).toBe(3);
});

test.each(['1st of March', '2026-02-31T25:00:00Z', '0'])(
  'a record whose dueAt is not a time is reported, leased with a time, and delays no other: %s',
  async (dueAt) => {
    const sound = Array.from({ length: 60 }, (_, index) => running(`sound-${index}`, iso(900)));
    const bad = extraction({ extractionId: 'bad', dueShard: 0, dueAt });
    const { sweep, sent, failed, extractions } = world([bad, ...sound]);
    const { oldestOverdueSeconds } = await sweep();
    expect(Number.isFinite(oldestOverdueSeconds)).toBe(true);
    expect(extractions.items.get('bad')?.dueAt).toBe(iso(1_300));
    expect(failed.every((id) => id === 'bad')).toBe(true);
    expect(sent().filter((id) => id !== 'bad')).toHaveLength(sound.length);
  },
);

const started = [['SweepStarted', 1], ...zeroFilledMetrics.map((metric) => [metric, 0])];

test('a sweep publishes that it started before it leases anything', async () => {
  const { sweep, publish, counted, dueAts } = world([running('a', iso(900)), running('b', iso(950))]);
  publish.mockImplementation(() => expect([counted, dueAts()]).toEqual([started, [iso(900), iso(950)]]));
  await sweep();
  expect(publish).toHaveBeenCalledOnce();
});

test('a sweep with nothing to do counts that it finished', async () => {
  const { sweep, counted, batches } = world([]);
  expect(await sweep()).toEqual({ sent: 0, failed: 0, cutShort: false, oldestOverdueSeconds: 0 });
  expect(batches).toEqual([]);
  expect(counted).toEqual([
    ...started,
    ['SweepFinished', 1],
    ['SweepSent', 0],
    ['OldestOverdueSeconds', 0],
    ['OldestStuckSeconds', 0],
  ]);
});

test('a sweep that cannot read one partition sends the others, and does not count that it finished', async () => {
  const records = Array.from({ length: 100 }, (_, index) => running(`due-${index}`, iso(900)));
  const { sweep, counted, sent } = world(records, {
    faults: {
      before: async ({ method, key }) => {
        if (method === 'due' && key === '3') throw new Error('throttled');
        // The others answer later. Lambda freezes what is still under way when the sweep has failed.
        await new Promise(setImmediate);
      },
    },
  });
  await expect(sweep()).rejects.toThrow('throttled');
  expect(new Set(sent())).toEqual(
    new Set(records.flatMap(({ extractionId, dueShard }) => (dueShard === 3 ? [] : [extractionId]))),
  );
  expect(counted).toContainEqual(['SweepStarted', 1]);
  expect(counted).not.toContainEqual(['SweepFinished', 1]);
});

describe('a message that the queue does not take', () => {
  const three = ['a', 'b', 'c'].map((extractionId) => running(extractionId, iso(900)));

  test('of a batch is counted and named, and the record is due again after its lease', async () => {
    const { sweep, failed, counted, extractions, time, sent } = world(three, {
      send: (messages) => messages.filter(({ extractionId }) => extractionId === 'b'),
    });
    expect(await sweep()).toMatchObject({ sent: 2, failed: 1 });
    expect(failed).toEqual(['b']);
    expect(counted).toContainEqual(['SweepFailed', 1]);
    expect(extractions.items.get('b')?.dueAt).toBe(iso(1_300));
    time.advance(300);
    await sweep();
    expect(sent().filter((id) => id === 'b')).toHaveLength(2);
  });

  test('because the whole batch failed is counted, and the sweep goes on', async () => {
    const send = vi.fn((): readonly ReconcileMessage[] => []);
    send.mockImplementationOnce(() => {
      throw new Error('throttled');
    });
    const { sweep, failed } = world(three, { send });
    expect(await sweep()).toMatchObject({ sent: 2, failed: 1 });
    expect(failed).toEqual(['The sweep could not send to the queue.']);
  });
});

test('a lease is up to eight minutes longer at random, so that records are not due together again', async () => {
  const rolls = [0, 0.25, 0.5, 0.75];
  const { sweep, dueAts } = world(
    ['a', 'b', 'c', 'd'].map((extractionId) => running(extractionId, iso(900))),
    { random: () => rolls.shift() ?? Number.NaN },
  );
  await sweep();
  expect(dueAts().toSorted()).toEqual([iso(1_300), iso(1_420), iso(1_540), iso(1_660)]);
});

describe('the time budget', () => {
  /** Each batch that is sent takes so long. */
  const slow = (records: readonly Extraction[], budgetMs: number, batchMs: number) => {
    let remaining = budgetMs;
    return world(records, {
      remainingMs: () => remaining,
      send: () => {
        remaining -= batchMs;
        return [];
      },
    });
  };

  test('prevents a lease with too little time left, and the sweep is cut short', async () => {
    const records = idsOf(2, 80).map((extractionId) => running(extractionId, iso(900)));
    const { sweep, sent, counted, dueAts } = slow(records, 300_000, 100_000);
    expect(await sweep()).toMatchObject({ sent: 30, cutShort: true });
    expect(counted).toContainEqual(['SweepCutShort', 1]);
    const unleased = dueAts().filter((dueAt) => dueAt === iso(900));
    expect([unleased.length, sent().length]).toEqual([50, 30]);
  });

  test('that runs out with the last record does not count as cut short', async () => {
    const { sweep } = slow([running('a', iso(900))], 60_000, 60_000);
    expect(await sweep()).toMatchObject({ sent: 1, cutShort: false });
  });
});
