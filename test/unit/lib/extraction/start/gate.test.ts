import { expect, test } from 'vitest';
import type { Admission } from '../../../../../lib/breaker/circuit-breaker.ts';
import { maxEntries } from '../../../../../lib/extraction/deadlines.ts';
import type { NotAccepted, StartCallResult } from '../../../../../lib/extraction/plan.ts';
import type { Extraction } from '../../../../../lib/extraction/record.ts';
import { type GateDeps, gateOf } from '../../../../../lib/extraction/start/gate.ts';
import type { ShownToRate, StartLimiter } from '../../../../../lib/rate-limit/start-limiter.ts';
import { type LineEntry, parseSlot } from '../../../../../lib/rate-limit/start-line.ts';
import { at, extraction, iso, timings } from '../../../../support/data/extraction-fixtures.ts';
import { memoryTelemetry } from '../../../../support/data/memory-telemetry.ts';
import { memoryStartLine } from '../../../../support/stores/memory-start-line.ts';

test('a start goes if its breaker and the rate let it', async () => {
  const requestedAt = '2026-03-01T12:00:00.000Z';
  const of = { extractionId: 'e-1', requestId: 'r-1', requestedBy: 'caller', method: 'consent', requestedAt };
  const pass = { kind: 'pass' };
  const deps = {
    breaker: { admit: async () => pass },
    startLine: { limiter: { admit: async () => 'go' } },
    now: () => new Date(requestedAt),
    timings: { startWindow: 900, maxWait: 21_600 },
  } as unknown as GateDeps;
  const gate = await gateOf(of as Extraction, { requestId: 'r-1', entry: 0, callbackAttempt: 0 }, deps);
  expect(await gate.admit(false)).toBe(pass);
});

const record = extraction();
const { extractionId, requestId } = record;
const about = { caller: record.requestedBy, group: 'bank', extraction: extractionId };
const pass: Admission = { kind: 'pass', about };
const busy: NotAccepted = {
  kind: 'not-accepted',
  error: 'ProviderBusy',
  problem: 'http-429',
  notBefore: iso(60),
};

type Setting = {
  readonly entry?: number;
  readonly attempt?: number;
  readonly isReleased?: boolean;
  readonly breaker?: Admission;
  readonly rate?: 'go' | 'wait';
  readonly waited?: Pick<LineEntry, 'waitedMs' | 'waitingSince' | 'refusals'>;
  readonly seconds?: number;
  readonly failsToWait?: true;
  /** Starts are not limited. */
  readonly unlimited?: true;
};

/** The gate of one start with this behind it, and what it did. */
const gateWith = async (setting: Setting) => {
  const { attempt = 0, breaker = pass, rate = 'go', waited, seconds = 100 } = setting;
  const line = memoryStartLine();
  if (waited !== undefined)
    await line.write({ extractionId, requestId, attempt: 0, slot: 'slot', expiresAt: 1e11, ...waited });
  const did: unknown[] = [];
  const limiter: StartLimiter = {
    admit: async (_about, asking) => {
      did.push(asking);
      return rate;
    },
    report: async (_group: string, { kind }: ShownToRate) => void did.push(`rate: ${kind}`),
    reopen: async () => undefined,
    wait: async (waiting, isHeld) => {
      if (setting.failsToWait) throw new Error('StartLine is down.');
      did.push(isHeld ? 'in line: held' : 'in line');
      await line.write(waiting);
    },
  };
  const gate = await gateOf(
    record,
    { ...setting, requestId, callbackAttempt: attempt },
    {
      breaker: {
        admit: async () => breaker,
        report: async (_admission, { kind }) => void did.push(`breaker: ${kind}`),
      },
      startLine: {
        line,
        ...(setting.unlimited ? {} : { limiter }),
      },
      now: () => at(seconds),
      timings,
      telemetry: memoryTelemetry().telemetry,
    },
  );
  return { gate, did, line };
};

const notYet = (explanation: 'Waits' | 'ProviderBusy') =>
  ({ conclusion: 'not-yet', explanation, error: explanation, problem: 'http-429', record }) as const;

test('one that the rate holds waits in line', async () => {
  const { gate, did, line } = await gateWith({ entry: 0, rate: 'wait' });
  expect(await gate.admit(false)).toEqual({ kind: 'waits', problem: undefined });
  expect(did.at(-1)).toBe('in line');
  // Its item outlives the longest wait and the start after it by a day.
  const expiresAt = at(100 + timings.maxWait + timings.startWindow + 86_400).getTime() / 1_000;
  const entry = { requestId, waitingSince: iso(100), waitedMs: 0, expiresAt };
  expect(await line.find(extractionId)).toMatchObject(entry);
});

test('one that a breaker holds waits without asking for the rate', async () => {
  const { gate, did, line } = await gateWith({ entry: 0, breaker: { kind: 'held', cause: 'http-503' } });
  expect(await gate.admit(false)).toEqual({ kind: 'waits', problem: 'held/http-503' });
  expect(did).toEqual(['in line: held']);
  expect(await line.find(extractionId)).toBeDefined();
});

test.each<readonly [string, Setting, boolean]>([
  ['only asks', { entry: 0 }, true],
  ['was begun before there was a line', {}, false],
  ['has waited as often as one may', { entry: maxEntries }, false],
])('a held start that %s does not wait in line', async (_, setting, onlyAsk) => {
  const held = { kind: 'held', cause: 'http-503' } as const;
  const { gate, line } = await gateWith({ ...setting, breaker: held, rate: 'wait' });
  expect(await gate.admit(onlyAsk)).toEqual(held);
  expect(gate.outcomeOf({ result: busy, shown: { kind: 'nothing' } }).result).toBe(busy);
  expect(await line.find(extractionId)).toBeUndefined();
});

const turn: Admission = { kind: 'turn', about, holder: 'holder' };

test.each<readonly [string, Setting, boolean]>([
  ['first', { entry: 0 }, false],
  ['with a turn', { entry: 0, breaker: turn }, false],
  ['released', { entry: 1, attempt: 1_000, isReleased: true }, true],
  ['after a wait that failed', { entry: 1, attempt: 1_000, isReleased: false }, false],
  ['after any wait, in an execution of an earlier version', { entry: 1, attempt: 1_000 }, true],
  ['a retry, in an execution of an earlier version', { entry: 1, attempt: 1_001 }, false],
])('the dispatcher has counted an attempt: %s', async (_, setting, isReleased) => {
  const { gate, did } = await gateWith(setting);
  await gate.admit(false);
  expect(did).toEqual([{ isReleased, isTurn: setting.breaker === turn }]);
});

test('the window does not count what it waited, and the deadline moves by that', async () => {
  const { gate } = await gateWith({ entry: 1, waited: { waitedMs: 20_000, waitingSince: iso(70) } });
  expect(gate.timings.startWindow).toBe(timings.startWindow + 50);
  expect(gate.deadlineAt).toBe(iso(50 + timings.deadline));
  expect(gate.hasWaitedTooLong).toBe(false);
  const late = await gateWith({ entry: 1, waited: { waitedMs: timings.maxWait * 1_000 } });
  expect(late.gate.hasWaitedTooLong).toBe(true);
});

test('without a limit nobody waits, and what one had waited before counts in no window', async () => {
  const waited = { waitedMs: 20_000, waitingSince: iso(70) };
  const held = { kind: 'held', cause: 'http-503' } as const;
  const { gate, line } = await gateWith({ unlimited: true, entry: 1, waited, breaker: held });
  expect(gate.timings.startWindow).toBe(timings.startWindow + 50);
  expect(await gate.admit(false)).toBe(held);
  expect(await line.find(extractionId)).toMatchObject(waited);
});

test.each<readonly [string, StartCallResult, string | undefined]>([
  ['accepted', { kind: 'accepted', taskId: 'task' }, 'rate: accepted'],
  ['a 429', busy, 'rate: refused'],
  ['a 429 with an errorType', { ...busy, problem: 'http-429/BUSY' }, 'rate: refused'],
  ['the quota', { ...busy, problem: 'quota-reached' }, undefined],
  ['the user', { ...busy, problem: 'user-busy' }, undefined],
  ['a 503', { kind: 'unknown', reason: 'http-503' }, 'rate: overloaded'],
])('what the rate learns of a call: %s', async (_, result, learnt) => {
  const { gate, did, line } = await gateWith({ entry: 0 });
  await gate.admit(false);
  const shown = result.kind === 'unknown' ? { kind: 'failed', cause: 'http-503' } : { kind: 'nothing' };
  gate.outcomeOf({ result, shown: shown as never });
  await gate.afterCall(notYet('ProviderBusy'));
  expect(did.slice(1)).toEqual(learnt === undefined ? [] : [learnt]);
  expect(await line.find(extractionId)).toBeUndefined();
});

test.each<readonly [StartCallResult, readonly string[]]>([
  [{ kind: 'accepted', taskId: 'task' }, []],
  [{ kind: 'unknown', reason: 'timeout' }, []],
  [busy, ['rate: refused']],
])('a slow call is an overload while it is under way, however it ends: %j', async (result, then) => {
  const { gate, did } = await gateWith({ entry: 0 });
  await gate.admit(false);
  await gate.reportSlow();
  const shown = { kind: result.kind === 'unknown' ? 'failed' : 'nothing' } as const;
  gate.outcomeOf({ result, shown });
  await gate.afterCall(notYet('ProviderBusy'));
  expect(did.slice(1)).toEqual(['breaker: slow', 'rate: overloaded', ...then]);
});

test('a start that the rate refused goes to the line, or is retried if it cannot, or its window is over', async () => {
  const { gate, line } = await gateWith({ entry: 0 });
  await gate.admit(false);
  const shown = { kind: 'nothing' } as const;
  const { result } = gate.outcomeOf({ result: busy, shown });
  expect(result).toMatchObject({ error: 'Waits', notBefore: undefined });
  expect(await gate.afterCall(notYet('Waits'))).toBeUndefined();
  expect(await line.find(extractionId)).toMatchObject({ waitingSince: iso(100) });

  const late = await gateWith({ entry: 0, seconds: timings.startWindow });
  await late.gate.admit(false);
  expect(late.gate.outcomeOf({ result: busy, shown }).result).toBe(busy);

  const broken = await gateWith({ entry: 0, failsToWait: true });
  await broken.gate.admit(false);
  broken.gate.outcomeOf({ result: busy, shown });
  expect(await broken.gate.afterCall(notYet('Waits'))).toBe(busy);
});

test.each<readonly [string, StartCallResult, object | undefined]>([
  ['accepted, its item goes', { kind: 'accepted', taskId: 'task' }, undefined],
  ['to be retried, its window counts again', { ...busy, problem: 'user-busy' }, { waitedMs: 30_000 }],
])('once one that waited is %s', async (_, result, left) => {
  const { gate, line } = await gateWith({
    entry: 1,
    attempt: 1_000,
    waited: { waitedMs: 0, waitingSince: iso(70) },
  });
  await gate.admit(false);
  gate.outcomeOf({ result, shown: { kind: 'nothing' } });
  await gate.afterCall(notYet('ProviderBusy'));
  await gate.report({ kind: 'nothing' });
  const item = await line.find(extractionId);
  if (left === undefined) expect(item).toBeUndefined();
  else {
    expect(item).toMatchObject(left);
    expect(item?.waitingSince).toBeUndefined();
  }
});

test.each([
  [0, [{ isReleased: true, isTurn: false }, 'rate: refused', 'in line'], iso(0)],
  [1, [{ isReleased: true, isTurn: false }, 'rate: refused', 'in line'], iso(0)],
  [2, [{ isReleased: true, isTurn: false }, 'in line'], iso(160)],
] as const)('refused after %i refusals', async (refusals, expected, at) => {
  const { gate, did, line } = await gateWith({
    entry: 1,
    attempt: 1_000,
    waited: { waitedMs: 0, waitingSince: iso(70), refusals },
  });
  await gate.admit(false);
  gate.outcomeOf({ result: { ...busy, notBefore: iso(160) }, shown: { kind: 'nothing' } });
  await gate.afterCall(notYet('Waits'));
  expect(did).toEqual(expected);
  const { refusals: noted, slot = '' } = (await line.find(extractionId)) ?? {};
  expect([noted, parseSlot(slot)?.at]).toEqual([refusals + 1, at]);
});
