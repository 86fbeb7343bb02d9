import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Admission, Shown } from '#lib/breaker/circuit-breaker.ts';
import { maxEntries } from '#lib/extraction/deadlines.ts';
import type { NotAccepted, StartCallResult } from '#lib/extraction/plan.ts';
import { readAsking } from '#lib/extraction/start/asking.ts';
import { admit, conclude, type GateDeps, type Going } from '#lib/extraction/start/gate.ts';
import type { Called } from '#lib/extraction/start/start-call.ts';
import { type LineEntry, parseSlot } from '#lib/rate-limit/start-line.ts';
import { at, extraction, iso, timings } from '../../../../support/data/extraction-fixtures.ts';
import { memoryTelemetry } from '../../../../support/data/memory-telemetry.ts';
import { memoryStartLine } from '../../../../support/stores/memory-start-line.ts';

const record = extraction();
const { extractionId, requestId } = record;
const about = { caller: record.requestedBy, group: 'bank', extraction: extractionId };
const pass: Admission = { kind: 'pass', about };
const turn: Admission = { kind: 'turn', about, holder: 'holder' };
const held: Admission = { kind: 'held', cause: 'http-503' };
const busy: NotAccepted = {
  kind: 'not-accepted',
  error: 'ProviderBusy',
  problem: 'user-busy',
  notBefore: undefined,
};
const accepted: Called = { result: { kind: 'accepted', taskId: 'task' }, shown: { kind: 'accepted' } };
const failed: Called = {
  result: { kind: 'unknown', reason: 'http-503' },
  shown: { kind: 'failed', cause: 'http-503' },
};
const refused = (notBefore?: string): Called => ({
  result: { kind: 'over-the-rate', problem: 'http-429', notBefore },
  shown: { kind: 'nothing' },
});

type Setting = {
  readonly entry?: number;
  readonly isReleased?: boolean;
  readonly breaker?: Admission;
  readonly rate?: 'go' | 'wait';
  readonly waited?: Pick<LineEntry, 'waitedMs' | 'waitingSince' | 'refusals'>;
  readonly seconds?: number;
  readonly failsToWait?: true;
  /** Its group had failed before. */
  readonly isKnownToFail?: true;
  /** Each of its calls takes too long; of these, it makes this one, or this one and the start call. */
  readonly slow?: 'token' | 'start';
};

/** One start with this behind it, and what it did. */
const startWith = async (setting: Setting) => {
  const { breaker = pass, rate = 'go', waited, seconds = 100 } = setting;
  const line = memoryStartLine(async ({ method }, effect) => {
    // Takes a turn of the event loop, as a write of DynamoDB does. One that is not awaited comes after the start has ended.
    if (method === 'write') await setImmediate();
    return effect();
  });
  if (waited !== undefined)
    await line.write({ extractionId, requestId, attempt: 0, slot: 'slot', expiresAt: 1e11, ...waited });
  const did: string[] = [];
  const deps: GateDeps = {
    breaker: {
      admit: async () => breaker,
      // Each takes a turn of the event loop, as a write does. One that is not awaited is missing at the end.
      report: async (_admission, { kind }: Shown) => {
        await setImmediate();
        did.push(`breaker: ${kind}`);
        return setting.isKnownToFail !== true && (kind === 'failed' || kind === 'slow');
      },
    },
    startLine: {
      line,
      limiter: {
        admit: async () => {
          did.push('asks the rate');
          return rate;
        },
        report: async (_about, { kind }) => {
          await setImmediate();
          did.push(`rate: ${kind}`);
          return 7;
        },
        enqueue: async (entry) => {
          if (setting.failsToWait) throw new Error('StartLine is down.');
          did.push('in line');
          await line.write(entry);
        },
      },
    },
    whenSlow: (callback) => {
      if (setting.slow !== undefined) callback();
      return () => undefined;
    },
    now: () => at(seconds),
    timings,
    telemetry: memoryTelemetry().telemetry,
  };
  const { entry = 0, isReleased = false } = setting;
  const attempt = { entry, isReleased, requestId, callbackAttempt: 1_000 * entry };
  return { asking: await readAsking(record, attempt, deps), deps, did, line };
};

/** The same, admitted, called and concluded. */
const concluded = async (setting: Setting, called: Called) => {
  const { asking, deps, did, line } = await startWith(setting);
  const going = (await admit(asking, false, deps)) as Going;
  did.length = 0;
  if (setting.slow === 'token') await going.watch('token', async () => 'a token');
  await going.watch('start', async () => 'a taskId');
  const error = called.result.kind === 'over-the-rate' ? 'Waits' : undefined;
  const ended = { conclusion: 'not-yet', explanation: 'Waits', record, error } as never;
  const instead = await conclude(asking, going, called, ended, deps);
  return { did, item: await line.find(extractionId), instead };
};

test('one that the rate holds waits in line', async () => {
  const { asking, deps, did, line } = await startWith({ entry: 0, rate: 'wait' });
  expect(await admit(asking, false, deps)).toEqual({ kind: 'waits', problem: undefined });
  expect(did).toEqual(['asks the rate', 'in line']);
  // Its item outlives the longest wait and the start after it by a day.
  const expiresAt = at(100 + timings.maxWait + timings.startWindow + 86_400).getTime() / 1_000;
  const entry = { requestId, waitingSince: iso(100), waitedMs: 0, expiresAt };
  expect(await line.find(extractionId)).toMatchObject(entry);
});

test('one that a breaker holds waits without asking for the rate', async () => {
  const { asking, deps, did } = await startWith({ entry: 0, breaker: held });
  expect(await admit(asking, false, deps)).toEqual({ kind: 'waits', problem: 'held/http-503' });
  expect(did).toEqual(['in line']);
});

test('a held start that only asks does not wait in line', async () => {
  const { asking, deps, did } = await startWith({ breaker: held, rate: 'wait' });
  expect(await admit(asking, true, deps)).toEqual({ kind: 'waits', problem: 'held/http-503' });
  expect(did).toEqual([]);
});

test.each<readonly [string, Setting, readonly string[]]>([
  ['first', { entry: 0 }, ['asks the rate']],
  ['with the turn of a breaker', { entry: 0, breaker: turn }, []],
  ['that the dispatcher has released, and counted', { entry: 1, isReleased: true }, []],
  ['after a wait that failed', { entry: 1, isReleased: false }, ['asks the rate']],
])('an attempt %s', async (_, setting, did) => {
  const start = await startWith(setting);
  expect(await admit(start.asking, false, start.deps)).toMatchObject({ admittedAt: at(100).getTime() });
  expect(start.did).toEqual(did);
});

test('the window does not count what it waited, and the deadline moves by that', async () => {
  const { asking } = await startWith({ entry: 1, waited: { waitedMs: 20_000, waitingSince: iso(70) } });
  expect(asking.timings.startWindow).toBe(timings.startWindow + 50);
  expect(asking.deadlineAt).toBe(iso(50 + timings.deadline));
  expect(asking.hasWaitedTooLong).toBe(false);
});

test.each<readonly [string, Setting]>([
  ['for as long', { entry: 1, waited: { waitedMs: timings.maxWait * 1_000 } }],
  ['as often', { entry: maxEntries }],
])('who has waited %s as one may is not started', async (_, setting) => {
  expect((await startWith(setting)).asking.hasWaitedTooLong).toBe(true);
});

test.each<readonly [string, Setting, Called, readonly string[]]>([
  ['accepted', {}, accepted, ['breaker: accepted', 'rate: accepted']],
  ['a 429', {}, refused(), ['breaker: nothing', 'rate: refused', 'in line']],
  [
    'a third 429',
    { waited: { waitedMs: 0, refusals: 2 }, entry: 1 },
    refused(),
    ['breaker: nothing', 'in line'],
  ],
  ['a 429 that names the user', {}, { ...refused(), result: busy }, ['breaker: nothing']],
  ['a 503', {}, failed, ['breaker: failed', 'rate: failed']],
  ['a token that failed after a 401', {}, { ...failed, isOfToken: true }, ['breaker: failed']],
  ['a 503 of a group that failed before', { isKnownToFail: true }, failed, ['breaker: failed']],
  ['a 503 in the turn of a breaker', { breaker: turn }, failed, ['breaker: failed']],
])('what breaker and rate learn of a call: %s', async (_, setting, called, expected) => {
  expect((await concluded({ entry: 0, ...setting }, called)).did).toEqual(expected);
});

test.each<readonly [string, Partial<Setting>, Called, readonly string[]]>([
  ['is accepted', {}, accepted, ['rate: failed', 'breaker: accepted', 'rate: recovered', 'rate: accepted']],
  ['fails', {}, failed, ['rate: failed', 'breaker: nothing']],
  ['fails, and holds the turn of a breaker', { breaker: turn }, failed, ['breaker: failed']],
  [
    'is accepted, of which one is for a token',
    { slow: 'token' },
    accepted,
    ['breaker: accepted', 'rate: accepted'],
  ],
])('a start with slow calls counts as failed once while they are under way, and then %s', async (...of) => {
  const [, setting, called, then] = of;
  const { did } = await concluded({ entry: 0, slow: 'start', ...setting }, called);
  expect(did).toEqual(['breaker: slow', ...then]);
});

test('a start that the rate refused goes to the line, or is retried if it cannot', async () => {
  const waits = await concluded({ entry: 0 }, refused());
  expect(waits.instead).toBeUndefined();
  expect(waits.item).toMatchObject({ waitingSince: iso(100), refusals: 1 });
  const broken = await concluded({ entry: 0, failsToWait: true }, refused());
  expect(broken.instead).toEqual({ ...busy, problem: 'http-429' });
});

test.each<readonly [string, StartCallResult, object | undefined]>([
  ['accepted, its item goes', accepted.result, undefined],
  ['to be retried, its window counts again', busy, { waitedMs: 30_000 }],
])('once one that waited is %s', async (_, result, left) => {
  const setting = { entry: 1, isReleased: true, waited: { waitedMs: 0, waitingSince: iso(70) } };
  const { item } = await concluded(setting, { result, shown: { kind: 'nothing' } });
  if (left === undefined) expect(item).toBeUndefined();
  else {
    expect(item).toMatchObject(left);
    expect(item?.waitingSince).toBeUndefined();
  }
});

test('one that was let go and made no call frees its turn, and keeps what it has waited', async () => {
  const setting = { entry: 1, isReleased: true, waited: { waitedMs: 0, waitingSince: iso(70) } };
  const { asking, deps, did, line } = await startWith(setting);
  const going = (await admit(asking, false, deps)) as Going;
  await conclude(asking, going, { shown: failed.shown }, undefined, deps);
  // The rate counts start calls alone.
  expect(did).toEqual(['breaker: failed']);
  expect(await line.find(extractionId)).toMatchObject({ waitedMs: 30_000 });
});

test('one whose credentials were refused before leaves no item of its wait', async () => {
  const setting = { entry: 1, isReleased: true, waited: { waitedMs: 0, waitingSince: iso(70) } };
  const { asking, deps, line } = await startWith(setting);
  const going = (await admit(asking, false, deps)) as Going;
  await conclude(asking, going, { shown: { kind: 'nothing' } }, { conclusion: 'closed' } as never, deps);
  expect(await line.find(extractionId)).toBeUndefined();
});

test.each([
  [0, undefined, iso(0)],
  [0, iso(160), iso(160)],
  [2, iso(160), iso(160)],
  [2, undefined, iso(105)],
])('refused after %i refusals, with Retry-After until %s', async (refusals, notBefore, place) => {
  const waited = { waitedMs: 0, waitingSince: iso(70), refusals };
  const { item } = await concluded({ entry: 1, isReleased: true, waited }, refused(notBefore));
  expect([item?.refusals, parseSlot(item?.slot ?? '')?.at]).toEqual([refusals + 1, place]);
});
