import { beforeEach, describe, expect, test } from 'vitest';
import { pause } from '../../../../lib/breaker/breaker-state.ts';
import { type CircuitBreaker, createCircuitBreaker } from '../../../../lib/breaker/circuit-breaker.ts';
import { memoryBreakerStore } from '../../../support/memory-breaker-store.ts';
import { memoryJournal } from '../../../support/memory-journal.ts';
import type { StoreCall } from '../../../support/store-fault.ts';

const settings = { failures: 3, windowSeconds: 30, openSeconds: 30, maxOpenSeconds: 100, probeSeconds: 60 };
const trouble = { kind: 'trouble' } as const;
const pass = { kind: 'pass' } as const;

let seconds: number;
let calls: string[];
let broken: (call: StoreCall) => boolean;

beforeEach(() => {
  seconds = 0;
  calls = [];
  broken = () => false;
});

const journal = memoryJournal();

const store = () =>
  memoryBreakerStore({
    before: (call) => {
      calls.push(call.method);
      if (broken(call)) throw new Error('down');
    },
  });

let processes = 0;

/** The breaker of one process. */
const processOn = (shared: ReturnType<typeof store>): CircuitBreaker => {
  processes += 1;
  const process = processes;
  let ids = 0;
  return createCircuitBreaker({
    name: 'starts',
    store: shared,
    settings,
    now: () => new Date(seconds * 1_000),
    newId: () => {
      ids += 1;
      return `${process}-${ids}`;
    },
    journal: journal.journal,
  });
};

const failOnce = async (breaker: CircuitBreaker): Promise<void> =>
  breaker.report(await breaker.admit(), trouble);

/** A store whose breaker opened at 0 s, and is half-open from 30 s on. */
const opened = async () => {
  const shared = store();
  for (const process of [processOn(shared), processOn(shared), processOn(shared)]) await failOnce(process);
  return shared;
};

describe('while all is well', () => {
  test('a process reads the state once in 5 s, and writes nothing', async () => {
    const breaker = processOn(store());
    for (seconds = 0; seconds < 10; seconds += 1) {
      await breaker.report(await breaker.admit(), { kind: 'success' });
    }
    expect(calls).toEqual(['read', 'read']);
  });

  test('concurrent calls share a read', async () => {
    const breaker = processOn(store());
    await Promise.all([breaker.admit(), breaker.admit(), breaker.admit()]);
    expect(calls).toEqual(['read']);
  });

  test('a failure that says nothing about the provider is not counted', async () => {
    const breaker = processOn(store());
    await breaker.report(await breaker.admit(), { kind: 'nothing' });
    expect(calls).toEqual(['read']);
  });
});

describe('one failure each of several processes', () => {
  test('opens the breaker for a process that has not failed', async () => {
    const shared = await opened();
    expect(await processOn(shared).admit()).toEqual({ kind: 'stop' });
    expect(journal.counted.filter((metric) => metric === 'BreakerOpened')).toHaveLength(1);
  });

  test('opens it also if all of them fail at once and lose races', async () => {
    const shared = store();
    const all = Array.from({ length: 50 }, () => processOn(shared));
    await Promise.all(all.map(failOnce));
    expect(shared.rows.get('starts')?.state.opened).toBeDefined();
    for (const process of all) expect(await process.admit()).toEqual({ kind: 'stop' });
  });

  test('a process learns with its own failure that the breaker is open, and not only after 5 s', async () => {
    const shared = store();
    const late = processOn(shared);
    const admission = await late.admit();
    for (const process of [processOn(shared), processOn(shared), processOn(shared)]) await failOnce(process);
    await late.report(admission, trouble);
    expect(await late.admit()).toEqual({ kind: 'stop' });
  });

  test('a process that trusts an older state sees the open breaker after 5 s', async () => {
    const shared = store();
    const idle = processOn(shared);
    await idle.admit();
    for (const process of [processOn(shared), processOn(shared), processOn(shared)]) await failOnce(process);
    seconds = 4;
    expect(await idle.admit()).toEqual(pass);
    seconds = 5;
    expect(await idle.admit()).toEqual({ kind: 'stop' });
  });
});

describe('a half-open breaker', () => {
  test('elects one of many processes that ask at once', async () => {
    const shared = await opened();
    seconds = 30;
    const admissions = await Promise.all(Array.from({ length: 20 }, () => processOn(shared).admit()));
    expect(admissions.filter(({ kind }) => kind === 'probe')).toHaveLength(1);
    expect(admissions.filter(({ kind }) => kind === 'stop')).toHaveLength(19);
  });

  test('closes for all after a success of the probe', async () => {
    const shared = await opened();
    seconds = 30;
    const prober = processOn(shared);
    await prober.report(await prober.admit(), { kind: 'success' });
    expect(await processOn(shared).admit()).toEqual(pass);
  });

  test('stays open after a success of another call', async () => {
    const shared = await opened();
    seconds = 30;
    await processOn(shared).report(pass, { kind: 'success' });
    expect(shared.rows.get('starts')?.state.opened).toBeDefined();
  });

  test('is open again after a failed probe, and half-open at once after one that showed nothing', async () => {
    const shared = await opened();
    seconds = 30;
    const first = processOn(shared);
    await first.report(await first.admit(), { kind: 'nothing' });
    const second = processOn(shared);
    const admission = await second.admit();
    expect(admission.kind).toBe('probe');
    await second.report(admission, trouble);
    seconds = 89;
    expect(await processOn(shared).admit()).toEqual({ kind: 'stop' });
    seconds = 90;
    expect((await processOn(shared).admit()).kind).toBe('probe');
  });
});

describe('if the state is not available,', () => {
  test.each(['read', 'replace'])('%s: the call is made, and it is counted', async (method) => {
    const shared = await opened();
    seconds = 30;
    broken = (call) => call.method === method;
    const before = journal.counted.length;
    expect(await processOn(shared).admit()).toEqual(pass);
    expect(journal.counted.slice(before)).toEqual(['BreakerUnavailable']);
  });

  test('it is not read again for 5 s', async () => {
    broken = () => true;
    const breaker = processOn(store());
    expect([await breaker.admit(), await breaker.admit()]).toEqual([pass, pass]);
    expect(calls).toEqual(['read']);
  });

  test('a failure is reported without an exception', async () => {
    const breaker = processOn(store());
    const admission = await breaker.admit();
    broken = () => true;
    await expect(breaker.report(admission, trouble)).resolves.toBeUndefined();
  });
});

test('a success after a failure is written once, so that failures in a row start again', async () => {
  const shared = store();
  const breaker = processOn(shared);
  await failOnce(breaker);
  await breaker.report(await breaker.admit(), { kind: 'success' });
  expect(shared.rows.get('starts')?.state.inARow).toBeUndefined();
  calls.length = 0;
  await breaker.report(await breaker.admit(), { kind: 'success' });
  expect(calls).not.toContain('replace');
});

test('a paused breaker stops every call, and each is counted as held', async () => {
  const shared = store();
  shared.rows.set('starts', { state: pause({ failures: [] }, 'maintenance', 0), version: '1' });
  const before = journal.counted.length;
  expect(await processOn(shared).admit()).toEqual({ kind: 'stop' });
  expect(journal.counted.slice(before)).toEqual(['StartsHeld']);
});
