import { describe, expect, test } from 'vitest';
import type { PausableCalls } from '../../../../../lib/breaker/pauses.ts';
import { ProviderPaused } from '../../../../../lib/breaker/provider-trouble.ts';
import {
  countReads,
  guardReads,
  ReadEndsProcess,
  readsFor,
  tokensFor,
} from '../../../../../lib/extraction/reconcile/read-provider.ts';
import type { ReconcileCaller } from '../../../../../lib/extraction/reconcile/steps.ts';
import type { Extraction } from '../../../../../lib/extraction/record.ts';
import type { ExtractionStore } from '../../../../../lib/extraction/store.ts';
import { withSession } from '../../../../../lib/provider/tokens/tokens.ts';
import { ProviderAmbiguous, ProviderBusy } from '../../../../../lib/provider/transport/errors.ts';
import { at, extractionIn, id, iso, timings } from '../../../../support/extraction-fixtures.ts';
import { memoryExtractionStore } from '../../../../support/memory-extraction-store.ts';
import { memoryRequestStore } from '../../../../support/memory-request-store.ts';
import { memoryTelemetry } from '../../../../support/memory-telemetry.ts';

const running = { kind: 'running', known: true } as const;
const first: ReconcileCaller = { kind: 'queue', cause: 'due' };
const again: ReconcileCaller = { kind: 'queue', cause: 'due', afterFailure: true };
const operator: ReconcileCaller = { kind: 'operator' };

/** Calls that are made, and no more. */
const calls: Parameters<ReturnType<typeof countReads>>[2] = {
  forToken: (call) => call(),
  forTask: (call) => call(),
};

/** The clock is at 1,000 s. */
const world = (
  caller: ReconcileCaller,
  setup: {
    readonly unfinishedReads?: Extraction['unfinishedReads'];
    readonly error?: Error;
    readonly through?: (store: ExtractionStore) => ExtractionStore;
  } = {},
) => {
  const store = memoryExtractionStore();
  const { unfinishedReads } = setup;
  const record = extractionIn('RUNNING', unfinishedReads === undefined ? {} : { unfinishedReads });
  store.items.set(id, record);
  const extractions = setup.through?.(store) ?? store;
  let writes = 0;
  /** The count while the provider is read, which a process that ends would leave. */
  const during: Extraction['unfinishedReads'][] = [];
  const read = countReads(
    async () => {
      during.push(store.items.get(id)?.unfinishedReads);
      if (setup.error !== undefined) throw setup.error;
      return running;
    },
    caller,
    {
      extractions: {
        ...extractions,
        apply: (change) => {
          writes += 1;
          return extractions.apply(change);
        },
      },
      now: () => at(1_000),
      timings,
      telemetry: memoryTelemetry().telemetry,
    },
  );
  return {
    read: () => read(record, 'task-1', calls),
    during,
    writes: () => writes,
    after: () => store.items.get(id)?.unfinishedReads,
  };
};

const lost = (count: number, since = 1_000 - timings.reconcileTimeout - 1) => ({
  count,
  lastBegunAt: iso(since),
});

test('a read costs no write, unless it follows a failure', async () => {
  const { read, during, writes } = world(first);
  expect(await read()).toEqual(running);
  expect([during, writes()]).toEqual([[undefined], 0]);
});

test('after a failure it is counted while it is made', async () => {
  const { read, during, after } = world(again);
  expect(await read()).toEqual(running);
  expect(during).toEqual([{ count: 1, lastBegunAt: iso(1_000) }]);
  expect(after()).toBeUndefined();
});

test('a read that throws has ended, too', async () => {
  const { read, after } = world(again, { unfinishedReads: lost(2), error: new Error('503') });
  await expect(read()).rejects.toThrow('503');
  expect(after()).toBeUndefined();
});

test.each([first, again])('a count that is there is continued, whoever reads: %j', async (caller) => {
  const { read, during } = world(caller, { unfinishedReads: lost(2) });
  await read();
  expect(during).toEqual([{ count: 3, lastBegunAt: iso(1_000) }]);
});

test.each([first, again])('after three, none is made: %j', async (caller) => {
  const { read, during, after } = world(caller, { unfinishedReads: lost(3) });
  await expect(read()).rejects.toBeInstanceOf(ReadEndsProcess);
  expect([during, after()]).toEqual([[], lost(3)]);
});

test('an operator still reads, and what returns removes the count', async () => {
  const { read, after } = world(operator, { unfinishedReads: lost(3) });
  expect(await read()).toEqual(running);
  expect(after()).toBeUndefined();
});

test('a read beside one that may still be under way is made, and is not counted', async () => {
  const { read, during, after } = world(again, {
    unfinishedReads: lost(3, 1_000 - timings.reconcileTimeout),
  });
  expect(await read()).toEqual(running);
  expect(during).toEqual([lost(3, 1_000 - timings.reconcileTimeout)]);
  expect(after()).toBeUndefined();
});

test('a table that fails prevents no read', async () => {
  const { read, during } = world(again, {
    through: (store) => ({ ...store, apply: () => Promise.reject(new Error('throttled')) }),
  });
  expect(await read()).toEqual(running);
  expect(during).toHaveLength(1);
});

test('the end of a read is written again if the table fails', async () => {
  let failures = 0;
  const { read, after } = world(again, {
    through: (store) => ({
      ...store,
      apply: (change) => {
        if (change.remove.length === 0 || failures === 2) return store.apply(change);
        failures += 1;
        return Promise.reject(new Error('throttled'));
      },
    }),
  });
  await read();
  expect(after()).toBeUndefined();
});

test.each<readonly [string, boolean, ReconcileCaller]>([
  ['of the reconcile queue', true, first],
  ['of the slow queue', false, { ...first, isSlow: true }],
  ['of the machine', false, { kind: 'machine' }],
  ['of an operator', false, operator],
])('a read %s is brief: %s', async (_, isBrief, caller) => {
  const asked: boolean[] = [];
  const extractions = memoryExtractionStore();
  const read = readsFor(caller, {
    extractions,
    requests: memoryRequestStore(),
    unsealTarget: () => Promise.reject(new Error('not by consent')),
    providerFor: (brief) => {
      asked.push(brief);
      return {
        sessions: { current: async () => 'session', drop: () => undefined },
        taskTokens: { current: async () => 'token', drop: () => undefined },
        readTask: () => Promise.reject(new ProviderBusy('429')),
        readExtraction: () => Promise.reject(new Error('not by consent')),
      };
    },
    isPaused: async () => false,
    now: () => at(1_000),
    timings,
    telemetry: memoryTelemetry().telemetry,
  });
  await expect(read(extractionIn('RUNNING'), 'task-1', { isLast: false })).rejects.toThrow('429');
  expect(asked).toEqual([isBrief]);
});

describe('a guarded read', () => {
  const asking = <E extends Error>(error: E): E =>
    Object.assign(error, { retryAfter: { kind: 'delay', seconds: 60 } as const });
  const busy = () => asking(new ProviderBusy('429'));
  const unavailable = () => asking(new ProviderAmbiguous('503', { status: 503 }));

  type Setup = {
    readonly paused?: PausableCalls;
    readonly error?: Error;
    readonly loginError?: Error;
    readonly fields?: Partial<Extraction>;
  };

  const world = ({ paused, error, loginError, fields }: Setup = {}) => {
    const extractions = memoryExtractionStore();
    const record = { ...extractionIn('RUNNING'), ...fields } as Extraction;
    extractions.items.set(id, record);
    const { counted, telemetry } = memoryTelemetry();
    let reads = 0;
    const current = () => (loginError === undefined ? Promise.resolve('token') : Promise.reject(loginError));
    const read = guardReads(
      (_record, _taskId, guarded) =>
        withSession(tokensFor({ current, drop: () => undefined }, guarded), () =>
          guarded.forTask(async () => {
            reads += 1;
            if (error !== undefined) throw error;
            return running;
          }),
        ),
      { extractions, now: () => at(100), telemetry, isPaused: async (which) => which === paused },
    );
    return {
      read: ({ isLast = false } = {}) => read(record, 'task-1', { isLast }),
      counted,
      reads: () => reads,
      record: () => extractions.items.get(id),
    };
  };

  test.each([false, true])(
    'is held by an operator’s pause of reads, also the last one: %s',
    async (isLast) => {
      const { read, reads, counted } = world({ paused: 'reads' });
      await expect(read({ isLast })).rejects.toBeInstanceOf(ProviderPaused);
      expect([reads(), counted]).toEqual([0, ['ReadsHeld']]);
      expect(await world({ paused: 'starts' }).read({ isLast })).toEqual(running);
    },
  );

  test('throws a failure as it was', async () => {
    const error = new ProviderAmbiguous('503', { status: 503 });
    const { read, record } = world({ error });
    await expect(read()).rejects.toBe(error);
    expect(record()?.notBefore).toBeUndefined();
  });

  test.each([
    ['429', busy()],
    ['503', unavailable()],
  ])('after a %s with Retry-After leaves in the record before when nothing is read', async (_, error) => {
    const { read, record } = world({ error });
    await expect(read()).rejects.toBe(error);
    expect(record()?.notBefore).toBe(iso(160));
  });

  test.each([
    ['429 delays its extraction', busy(), iso(160)],
    ['503 does not, as it is about all extractions', unavailable(), undefined],
  ])('after the Retry-After of a login with %s', async (_, loginError, notBefore) => {
    const { read, record } = world({ loginError });
    await expect(read()).rejects.toBe(loginError);
    expect(record()?.notBefore).toBe(notBefore);
  });

  test.each([
    [99, 1],
    [100, 1],
    [101, 0],
  ])('with notBefore at %i s, at 100 s, is made %i times', async (notBefore, made) => {
    const { read, reads } = world({ fields: { notBefore: iso(notBefore) } });
    await read().catch(() => undefined);
    expect(reads()).toBe(made);
  });

  test('is made before notBefore, too, if it is the last one', async () => {
    const { read } = world({ fields: { notBefore: iso(101) } });
    expect(await read({ isLast: true })).toEqual(running);
  });
});
