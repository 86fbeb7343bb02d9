import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import type { BreakerState } from '#lib/breaker/breaker-state.ts';
import {
  type CircuitBreaker,
  createCircuitBreaker,
  type Passed,
  type Shown,
} from '#lib/breaker/circuit-breaker.ts';
import type { SharedItemStore } from '#lib/shared-item/shared-item.ts';
import { memoryTelemetry } from '../../../support/data/memory-telemetry.ts';
import { memoryBreakerStore } from '../../../support/stores/memory-breaker-store.ts';
import type { StoreCall } from '../../../support/stores/store-fault.ts';

const settings = { failures: 5, openSeconds: 30, maxOpenSeconds: 300, turnSeconds: 100 };
const caller = 'arn:aws:iam::111111111111:role/caller';

let seconds: number;
let calls: string[];
let onCall: (call: StoreCall) => void;
let isPaused: boolean;
let telemetry: ReturnType<typeof memoryTelemetry>;

beforeEach(() => {
  [seconds, calls, isPaused] = [0, [], false];
  onCall = () => undefined;
  telemetry = memoryTelemetry();
});

/** In milliseconds, of so many seconds of the test. */
const time = (at: number): number => Date.parse('2026-03-01') + at * 1_000;

const store = () =>
  memoryBreakerStore({
    before: (call) => {
      calls.push(call.method);
      onCall(call);
    },
  });

type Store = ReturnType<typeof store>;

/** The breakers of one process. */
const processOn = (shared: SharedItemStore): CircuitBreaker =>
  createCircuitBreaker({
    store: shared,
    settings,
    isPaused: async () => isPaused,
    now: () => new Date(time(seconds)),
    random: () => 0.5,
    newId: randomUUID,
    telemetry: telemetry.telemetry,
  });

const toStart = { onlyCheck: false } as const;

const aboutOf = (group = 'bank', of = caller) => ({ extraction: randomUUID(), caller: of, group });

/** One start: how it was admitted. What it shows is reported, unless it is held. */
const startOn = async (process: CircuitBreaker, seen: Shown['kind'], group?: string, of?: string) => {
  const admission = await process.admit(aboutOf(group, of), toStart);
  if (admission.kind !== 'held') await process.report(admission, { kind: seen });
  return admission.kind;
};

const admit = async (process: CircuitBreaker, group?: string, of?: string) =>
  (await process.admit(aboutOf(group, of), toStart)).kind;

/** Failed starts of one group, each in another process. */
const failIn = async (shared: SharedItemStore, times: number, group?: string): Promise<void> => {
  for (let left = times; left > 0; left -= 1) await startOn(processOn(shared), 'failed', group);
};

const stateOf = (shared: Store) => shared.items.get(caller)?.state as BreakerState | undefined;

test('while all is well, a process reads the state of each caller once in 5 s, and writes nothing', async () => {
  const process = processOn(store());
  for (; seconds < 10; seconds += 1) await startOn(process, seconds % 2 === 0 ? 'accepted' : 'nothing');
  await startOn(process, 'accepted', 'bank', 'another caller');
  expect(calls).toEqual(['read', 'read', 'read']);
});

describe('failures', () => {
  test('of several processes count together, and hold the starts of a process that saw none', async () => {
    const shared = store();
    await failIn(shared, 5);
    const before = telemetry.counted.length;
    expect(await admit(processOn(shared))).toBe('held');
    expect(telemetry.counted.slice(before)).toEqual(['StartsHeld']);
    expect(telemetry.counted).toContain('BreakerOpened');
    expect(telemetry.messages).toEqual(['Breakers opened or closed.']);
  });

  test('that count are read before each start of their group, and of any other while those count for the caller', async () => {
    const shared = store();
    await failIn(shared, 1);
    const process = processOn(shared);
    for (const group of ['bank', 'bank', 'healthy', 'healthy']) await process.admit(aboutOf(group), toStart);
    expect(calls.slice(-4)).toEqual(['read', 'read', 'read', 'read']);
    await startOn(processOn(shared), 'accepted', 'healthy');
    calls = [];
    const after = processOn(shared);
    for (const group of ['healthy', 'healthy', 'bank', 'bank']) await after.admit(aboutOf(group), toStart);
    expect(calls).toEqual(['read', 'read', 'read']);
  });
});

describe('an accepted start', () => {
  test('that was slow, and not counted as such, closes a breaker that opened since', async () => {
    const shared = store();
    await failIn(shared, 1);
    await startOn(processOn(shared), 'accepted');
    const process = processOn(shared);
    seconds = 1;
    const admission = (await process.admit(aboutOf(), toStart)) as Passed;
    await process.report(admission, { kind: 'slow' });
    seconds = 2;
    await failIn(shared, 5);
    expect(await admit(processOn(shared))).toBe('held');
    await process.report(admission, { kind: 'accepted' });
    expect(await admit(processOn(shared))).toBe('pass');
  });

  test('that was seen under a state without the failures goes into the next write, so those are not in a row', async () => {
    const shared = store();
    const busy = processOn(shared);
    await startOn(busy, 'nothing', 'bank');
    await failIn(shared, 4);
    seconds = 1;
    await startOn(busy, 'accepted');
    seconds = 2;
    await startOn(busy, 'failed');
    await failIn(shared, 3);
    expect(await admit(processOn(shared))).toBe('pass');
    await failIn(shared, 1);
    expect(await admit(processOn(shared))).toBe('held');
  });

  test('keeps the pause of its group short, also if only the process that counts a failure saw it', async () => {
    const shared = store();
    const process = processOn(shared);
    await startOn(process, 'accepted');
    for (let left = 5; left > 0; left -= 1) await startOn(process, 'failed');
    seconds = 30;
    expect(await startOn(processOn(shared), 'failed')).toBe('turn');
    seconds = 60;
    expect(await admit(processOn(shared))).toBe('turn');
  });
});

describe('a turn', () => {
  const opened = async (): Promise<Store> => {
    const shared = store();
    await failIn(shared, 5);
    seconds = 30;
    return shared;
  };

  test('is free at once after a start that showed nothing, although an eventually consistent read does not show the turn yet', async () => {
    const shared = await opened();
    const before = shared.items.get(caller);
    const process = processOn({
      ...shared,
      read: async (name, consistency) =>
        consistency === 'strongly' ? shared.read(name, consistency) : before,
    });
    const admission = (await process.admit(aboutOf(), toStart)) as Passed;
    expect(admission.kind).toBe('turn');
    seconds = 40;
    await process.report(admission, { kind: 'nothing' });
    expect(await admit(processOn(shared))).toBe('turn');
  });
});

test('a pause of the operator holds a start, and reads no breaker', async () => {
  isPaused = true;
  expect(await startOn(processOn(store()), 'failed')).toBe('held');
  expect([calls, telemetry.counted]).toEqual([[], ['StartsHeld']]);
});

describe('if the state is not available,', () => {
  test.each(['read', 'replace'])('%s: the start passes, and that is counted', async (method) => {
    const shared = store();
    await failIn(shared, 5);
    seconds = 30;
    onCall = ({ method: called }) => {
      if (called === method) throw new Error('down');
    };
    const before = telemetry.counted.length;
    expect(await startOn(processOn(shared), 'failed')).toBe('pass');
    expect(new Set(telemetry.counted.slice(before))).toEqual(new Set(['BreakerUnavailable']));
  });

  test('it is not read again for 5 s', async () => {
    onCall = () => {
      throw new Error('down');
    };
    const process = processOn(store());
    expect([await admit(process), await admit(process)]).toEqual(['pass', 'pass']);
    expect(calls).toEqual(['read']);
    seconds = 5;
    await process.admit(aboutOf(), toStart);
    expect(calls).toEqual(['read', 'read']);
  });
});

describe('an item that is damaged, or of a newer version', () => {
  const group = { name: 'bank', failed: [] };
  const years = { at: 1e15 };
  const groupOpen = (more: object) => ({
    groups: [{ ...group, opened: { since: 0, pause: 30, turn: { at: time(9) }, ...more } }],
  });
  const callerOpen = (more: object) => ({
    groups: [],
    opened: { since: 0, failing: { at: time(9) }, others: { at: time(9) }, taken: 0, ...more },
  });
  const withState = (state: unknown): Store => {
    const shared = store();
    shared.items.set(caller, { state, version: '1' });
    return shared;
  };

  test.each<readonly [string, unknown]>([
    ['of an earlier form', { count: 5, failing: ['a'], opened: { until: time(9) } }],
    ['whose groups are no list', { groups: 'x' }],
    ['whose group is open for years', groupOpen({ turn: years })],
    ['whose group has a pause below 0', groupOpen({ pause: -1 })],
    ['whose group passes for years', { groups: [{ ...group, passesUntil: 1e15 }], opened: { taken: 0 } }],
    ['whose caller is held for years', callerOpen({ others: years })],
    ['whose caller has taken no number of turns', callerOpen({ taken: 'x' })],
  ])('%s holds nothing, is counted, and is replaced by the next failure', async (_, state) => {
    const shared = withState(state);
    expect(await startOn(processOn(shared), 'failed')).toBe('pass');
    expect(telemetry.counted).toEqual(['BreakerUnavailable']);
    expect(stateOf(shared)?.groups).toEqual([['bank', null, [expect.any(String), time(0)]]]);
    expect(stateOf(shared)?.opened).toBeUndefined();
  });

  test.each(['<b>', '', 'x'.repeat(41), 503, null])(
    'holds without a cause where that is %o',
    async (cause) => {
      const shared = withState(groupOpen({ cause }));
      expect(await admit(processOn(shared))).toBe('held');
      expect(telemetry.counted).toEqual(['StartsHeld']);
      await startOn(processOn(shared), 'failed', 'another');
      expect(stateOf(shared)?.groups[0]?.opened?.cause).toBeUndefined();
    },
  );
});
