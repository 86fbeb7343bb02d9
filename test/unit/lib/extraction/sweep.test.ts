import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dueShardCount, dueShardOf } from '../../../../lib/extraction/due-shard.ts';
import type { ReconcileResult } from '../../../../lib/extraction/reconcile.ts';
import type { Extraction } from '../../../../lib/extraction/record.ts';
import { sweep } from '../../../../lib/extraction/sweep.ts';
import {
  allStatuses,
  clock,
  closedExtraction,
  extraction,
  iso,
  timings,
} from '../../../support/extraction-fixtures.ts';
import { memoryExtractionStore } from '../../../support/memory-extraction-store.ts';
import { memoryJournal } from '../../../support/memory-journal.ts';
import type { StoreFaults } from '../../../support/store-fault.ts';

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
  rows: readonly Extraction[],
  setup: {
    readonly reconcile?: (extractionId: string) => void;
    readonly remainingMs?: () => number;
    readonly faults?: StoreFaults;
    readonly random?: () => number;
    readonly found?: (record: Extraction) => ReconcileResult;
  } = {},
) => {
  const extractions = memoryExtractionStore(setup.faults);
  for (const row of rows) extractions.rows.set(row.extractionId, row);
  const time = clock(1_000);
  const reconciled: string[] = [];
  const failed: string[] = [];
  const counted: (readonly [string, number])[] = [];
  const dueAtStart: (string | undefined)[] = [];
  const run = () =>
    sweep({
      extractions,
      reconcile: async (extractionId): Promise<ReconcileResult> => {
        reconciled.push(extractionId);
        setup.reconcile?.(extractionId);
        const record = extractions.rows.get(extractionId);
        if (record === undefined) return { kind: 'gone' };
        if (setup.found !== undefined) return setup.found(record);
        return { kind: 'closed', record: closedExtraction({ extractionId, status: 'COMPLETED' }) };
      },
      now: time.now,
      timings,
      random: setup.random ?? (() => 0),
      remainingMs: setup.remainingMs ?? (() => 300_000),
      reserveMs: 45_000,
      journal: {
        ...memoryJournal().journal,
        failure: (_what, _error, { extractionId = '' } = {}) => void failed.push(extractionId),
      },
      metrics: {
        count: (metric, value = 1) => void counted.push([metric, value]),
        publish: () => void dueAtStart.push(...[...extractions.rows.values()].map(({ dueAt }) => dueAt)),
      },
    });
  return { sweep: run, reconciled, failed, counted, dueAtStart, extractions, time };
};

test('every due record of every partition is reconciled, and no other', async () => {
  const due = Array.from({ length: 100 }, (_, index) => running(`due-${index}`, iso(1_000)));
  const later = Array.from({ length: 20 }, (_, index) => running(`later-${index}`, iso(1_000.001)));
  expect(new Set(due.map(({ dueShard }) => dueShard)).size).toBe(dueShardCount);
  const { sweep, reconciled } = world([...due, ...later, closedExtraction({ extractionId: 'closed' })]);
  const result = await sweep();
  expect(new Set(reconciled)).toEqual(new Set(due.map(({ extractionId }) => extractionId)));
  expect(reconciled).toHaveLength(100);
  expect(result).toEqual({
    claimed: 100,
    closed: 100,
    failed: 0,
    cutShort: false,
    oldestOverdueSeconds: 0,
    oldestStuckSeconds: 0,
  });
});

test('a sweep without due records does nothing', async () => {
  const { sweep } = world([]);
  expect(await sweep()).toEqual({
    claimed: 0,
    closed: 0,
    failed: 0,
    cutShort: false,
    oldestOverdueSeconds: 0,
    oldestStuckSeconds: 0,
  });
});

test('the result has the longest delay in seconds', async () => {
  const { sweep } = world([running('a', iso(400)), running('b', iso(990))]);
  expect(await sweep()).toMatchObject({ oldestOverdueSeconds: 600 });
});

describe('a row that is malformed', () => {
  const sound = Array.from({ length: 60 }, (_, index) => running(`sound-${index}`, iso(900)));
  const collecting = { status: 'COMPLETED', taskId: 't', settledAt: iso(30) } as const;
  const malformed = (fields: object): Extraction =>
    ({ ...extraction({ extractionId: 'bad', dueShard: 0, dueAt: iso(0), ...fields }) }) as Extraction;
  const left = (record: Extraction): ReconcileResult => ({ kind: 'not-yet', record, why: 'still-running' });

  test.each([
    ['settledAt', { ...collecting, settledAt: 'yesterday' }],
    ['requestedAt', { requestedAt: '' }],
    ['startingAt', { status: 'STARTING', attemptId: 'a', startingAt: {} }],
    ['deadlineAt', { status: 'RUNNING', taskId: 't', deadlineAt: '2026-02-31T25:00:00Z' }],
    ['dueAt', { dueAt: '1st of March' }],
    ['dueAt, in the form of a time', { dueAt: '2026-02-31T25:00:00Z' }],
  ])('in its %s is counted and reported, and the others are reconciled', async (_what, fields) => {
    const { sweep, reconciled, failed } = world([malformed(fields), ...sound], { found: left });
    expect(await sweep()).toMatchObject({ failed: 1 });
    expect(failed).toEqual(['bad']);
    expect(reconciled).toEqual(expect.arrayContaining(sound.map(({ extractionId }) => extractionId)));
  });

  test('in any way delays no other record, and leaves every figure a number', async () => {
    const anything = fc.constantFrom('yesterday', '', '9999', 0, -1, Number.NaN, null, true, {}, []);
    const attribute = fc.constantFrom('requestedAt', 'startingAt', 'deadlineAt', 'settledAt', 'status');
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...allStatuses),
        fc.dictionary(attribute, anything),
        fc.constantFrom(iso(0), '1st of March', '2026-02-31T25:00:00Z'),
        async (status, fields, dueAt) => {
          const row = malformed({ status, attemptId: 'a', taskId: 't', dueAt, ...fields });
          const { sweep, reconciled } = world([row, ...sound], { found: left });
          const { oldestOverdueSeconds, oldestStuckSeconds, failed } = await sweep();
          expect([oldestOverdueSeconds, oldestStuckSeconds].every(Number.isFinite)).toBe(true);
          expect(failed).toBeLessThanOrEqual(1);
          expect(reconciled.filter((id) => id !== 'bad')).toHaveLength(sound.length);
        },
      ),
    );
  });
});

describe('a record that is stuck', () => {
  // To have moved on 400 s ago, whenever it was last looked at.
  const stuck = running('a', iso(1_000));
  const stuckFor400 = { ...stuck, deadlineAt: iso(600 - timings.machineSlack) };

  test('is reported in seconds, as the reconcile left it', async () => {
    const { sweep } = world([stuck], {
      found: () => ({ kind: 'not-yet', record: stuckFor400, why: 'still-running' }),
    });
    expect(await sweep()).toMatchObject({ oldestOverdueSeconds: 0, oldestStuckSeconds: 400 });
  });

  test('is not one that the reconcile advanced, however late', async () => {
    const moved = { ...stuckFor400, status: 'TIMED_OUT', settledAt: iso(1_000) } as const;
    const { sweep } = world([stuckFor400], { found: () => ({ kind: 'deferred', record: moved }) });
    expect(await sweep()).toMatchObject({ oldestStuckSeconds: 0 });
    const { sweep: sweepClosed } = world([stuckFor400]);
    expect(await sweepClosed()).toMatchObject({ closed: 1, oldestStuckSeconds: 0 });
  });

  test('is also one whose reconcile always fails', async () => {
    const { sweep } = world([stuckFor400], {
      reconcile: () => {
        throw new Error('fails');
      },
    });
    expect(await sweep()).toMatchObject({ failed: 1, oldestStuckSeconds: 400 });
  });
});

test('a sweep publishes that it started before it claims anything', async () => {
  const { sweep, counted, dueAtStart } = world([running('a', iso(900)), running('b', iso(950))]);
  await sweep();
  expect(counted).toEqual(
    expect.arrayContaining([
      ['SweepStarted', 1],
      ['SweepClaimed', 2],
    ]),
  );
  expect(dueAtStart).toEqual([iso(900), iso(950)]);
});

test('a sweep that cannot read the index has published that it started', async () => {
  const { sweep, counted } = world([], {
    faults: {
      before: () => {
        throw new Error('throttled');
      },
    },
  });
  await expect(sweep()).rejects.toThrow('throttled');
  expect(counted).toContainEqual(['SweepStarted', 1]);
  expect(counted).not.toContainEqual(['SweepFinished', 1]);
});

describe('a claim', () => {
  test('moves dueAt by five minutes before the record is reconciled', async () => {
    const seen: (string | undefined)[] = [];
    const held = world([running('a', iso(900))], {
      reconcile: (extractionId) => seen.push(held.extractions.rows.get(extractionId)?.dueAt),
    });
    await held.sweep();
    expect(seen).toEqual([iso(1_300)]);
  });

  test('is up to eight minutes longer at random, so that records are not due together again', async () => {
    const rolls = [0, 0.25, 0.5, 0.75];
    const seen: (string | undefined)[] = [];
    const held = world(
      ['a', 'b', 'c', 'd'].map((extractionId) => running(extractionId, iso(900))),
      {
        random: () => rolls.shift() ?? Number.NaN,
        reconcile: (extractionId) => seen.push(held.extractions.rows.get(extractionId)?.dueAt),
      },
    );
    await held.sweep();
    expect(seen.toSorted()).toEqual([iso(1_300), iso(1_420), iso(1_540), iso(1_660)]);
  });

  test('prevents a record that ends the process from starving the others', async () => {
    const { sweep, reconciled, failed, time } = world(
      ['poison', 'a', 'b'].map((extractionId) => running(extractionId, iso(900))),
      {
        reconcile: (extractionId) => {
          if (extractionId === 'poison') throw new Error('dies');
        },
      },
    );
    expect(await sweep()).toMatchObject({ claimed: 3, closed: 2, failed: 1 });
    expect(failed).toEqual(['poison']);
    reconciled.splice(0);
    time.advance(299);
    await sweep();
    expect(reconciled).toEqual([]);
    time.advance(1);
    await sweep();
    expect(reconciled).toContain('poison');
  });

  test('of another sweep is respected', async () => {
    const held = world([running('a', iso(900))], {
      faults: {
        before: ({ method, key }) => {
          if (method === 'apply') held.extractions.rows.set(key, running(key, iso(1_300.5)));
        },
      },
    });
    expect(await held.sweep()).toMatchObject({ claimed: 0 });
    expect(held.reconciled).toEqual([]);
  });

  test('is not made for a record that was rescheduled, closed or erased since the index was read', async () => {
    const held = world(
      ['moved', 'closed', 'gone'].map((extractionId) => running(extractionId, iso(900))),
      {
        faults: {
          before: ({ method, key }) => {
            if (method !== 'get') return;
            if (key === 'moved') held.extractions.rows.set(key, running(key, iso(2_000)));
            if (key === 'closed') held.extractions.rows.set(key, closedExtraction({ extractionId: key }));
            if (key === 'gone') held.extractions.rows.delete(key);
          },
        },
      },
    );
    expect(await held.sweep()).toMatchObject({ claimed: 0, failed: 0 });
    expect(held.reconciled).toEqual([]);
  });

  test('succeeds in only one of two sweeps', async () => {
    const { sweep, reconciled, time } = world(
      Array.from({ length: 30 }, (_, index) => running(`due-${index}`, iso(900))),
      // Every look at the clock is a moment later, as in two processes.
      { faults: { before: () => time.advance(0.001) } },
    );
    const [one, other] = await Promise.all([sweep(), sweep()]);
    expect(one.claimed + other.claimed).toBe(30);
    expect(new Set(reconciled).size).toBe(reconciled.length);
  });

  test('that fails is one failure, and the sweep goes on', async () => {
    const { sweep, failed, reconciled } = world(
      ['a', 'b'].map((extractionId) => running(extractionId, iso(900))),
      {
        faults: {
          before: ({ method, key }) => {
            if (method === 'apply' && key === 'a') throw new Error('throttled');
          },
        },
      },
    );
    expect(await sweep()).toMatchObject({ claimed: 1, failed: 1 });
    expect(failed).toEqual(['a']);
    expect(reconciled).toEqual(['b']);
  });
});

test('of two sweeps in the same millisecond only one claims a record', async () => {
  const { sweep, reconciled } = world([running('a', iso(900))]);
  await Promise.all([sweep(), sweep()]);
  expect(reconciled).toEqual(['a']);
});

test('a full partition does not delay the others', async () => {
  const crowded = idsOf(3, 60).map((extractionId) => running(extractionId, iso(100)));
  const lonely = idsOf(9, 1).map((extractionId) => running(extractionId, iso(999)));
  const { sweep, reconciled } = world([...crowded, ...lonely]);
  await sweep();
  // Eight at a time, one of each partition in turn: the lonely one is among the first.
  expect(reconciled.indexOf(lonely[0]?.extractionId ?? '')).toBeLessThan(8);
});

test('within a partition the oldest come first, and the next sweep does the rest', async () => {
  const ids = idsOf(5, 130);
  const rows = ids.map((extractionId, index) => running(extractionId, iso(index)));
  const { sweep, reconciled } = world([...rows].reverse());
  await sweep();
  expect(new Set(reconciled)).toEqual(new Set(ids.slice(0, 100)));
  await sweep();
  expect(reconciled).toHaveLength(130);
});

describe('the time budget', () => {
  test('prevents a claim with too little time left, and the sweep is cut short', async () => {
    let remaining = 300_000;
    const { sweep, reconciled } = world(
      Array.from({ length: 40 }, (_, index) => running(`due-${index}`, iso(900))),
      {
        remainingMs: () => remaining,
        reconcile: () => {
          remaining -= 20_000;
        },
      },
    );
    const result = await sweep();
    expect(result.cutShort).toBe(true);
    expect(result.claimed).toBe(reconciled.length);
    expect(reconciled.length).toBeGreaterThan(0);
    expect(reconciled.length).toBeLessThan(40);
  });

  test('leaves unclaimed records due for the next sweep', async () => {
    const { sweep, extractions, reconciled } = world([running('a', iso(900))], { remainingMs: () => 44_999 });
    expect(await sweep()).toMatchObject({ claimed: 0, cutShort: true });
    expect(reconciled).toEqual([]);
    expect(extractions.rows.get('a')?.dueAt).toBe(iso(900));
  });

  test('that runs out with the last record does not count as cut short', async () => {
    let remaining = 60_000;
    const { sweep } = world([running('a', iso(900))], {
      remainingMs: () => remaining,
      reconcile: () => {
        remaining = 0;
      },
    });
    expect(await sweep()).toMatchObject({ claimed: 1, cutShort: false });
  });
});
