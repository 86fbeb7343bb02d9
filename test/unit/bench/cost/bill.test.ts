import { describe, expect, it, test } from 'vitest';
import {
  billedMs,
  coldStartQuantities,
  dollarsOf,
  invocationQuantities,
  machineQuantities,
  pollsByMachine,
  pollsByQueue,
  storedQuantities,
} from '../../../bench/cost/bill.ts';
import type { Call, Entry } from '../../../bench/ledger/ledger.ts';
import { CannotBeCounted } from '../../../bench/units/item-bytes.ts';

const polling = { pollFirstSeconds: 5, pollBackoff: 2, pollEverySeconds: 120 };

test.each([
  ['the task has ended before the first', {}, 0, 0.4, 0],
  // Renewals by uniform pauses: t / 2.5 + 2 / 3.
  ['pauses do not grow', { pollBackoff: 1 }, 60, 0, 24.67],
  ['each poll outlasts the task', {}, 60, 60, 1],
  // Calculated from the distribution of the pauses, in steps of 0.1 s.
  ['pauses grow to two minutes', {}, 600, 0.4, 14.28],
])('the polls of the machine are counted where %s', (_, more, taskSeconds, pollSeconds, expected) => {
  expect(pollsByMachine({ ...polling, ...more }, taskSeconds, pollSeconds)).toBeCloseTo(expected, 1);
});

test.each([
  [5, 0],
  // At 5, 10, 20 and 40 s.
  [60, 4],
  // And at 80, 160, 280, 400 and 520 s.
  [600, 9],
])('the queue polls a task of %i s %i times before its end', (taskSeconds, polls) => {
  expect(pollsByQueue(polling, taskSeconds)).toBe(polls);
});

const call = (service: string, operation: string, startedAt = 0, endedAt = startedAt + 1): Call => ({
  service,
  operation,
  startedAt,
  endedAt,
  statusCode: 200,
});
const entry = (more: Partial<Entry> = {}): Entry => ({
  function: 'reconcile-extraction',
  memoryMB: 1_024,
  requestId: 'r',
  cpuMs: 10,
  endedAt: 1,
  calls: [],
  ...more,
});

test.each([
  ['consecutive waits are added', [0, 2], [2, 3], [5, 6], 420],
  ['of simultaneous waits the longest counts', [3, 9], [0, 4], [1, 2], 400],
] as const)('%s', (_, first, second, third, expected) => {
  const calls = [call('kms', '', ...first), call('provider', '', ...second), call('kms', '', ...third)];
  expect(billedMs({ calls, cpuMs: 0, memoryMB: 1_024 })).toBe(expected);
});

const update = call('dynamodb', 'UpdateItem');
const units = new Map([[update, { table: 'Records', write: 2, index: 1, read: 0, bytes: 1_100 }]]);
const known = { units, logBytes: new Map([['r', 500]]) };

describe('an invocation', () => {
  const calls = [call('kms', 'Decrypt'), call('provider', 'GET', 2), call('s3', 'PUT', 4), update];

  it('is billed with its duration, its log and its calls', () => {
    expect(invocationQuantities(entry({ calls: calls.slice(0, 3) }), known)).toMatchObject({
      invocation: 1,
      // 1 GB for 10 × 1,769 / 1,024 + 10 + 400 + 10 = 437.3 ms
      armGigabyteSecond: 0.438,
      logKilobyte: 0.5,
      keyRequest: 1,
      put: 1,
      httpRequest: 0,
      queueRequest: 0,
    });
    expect(invocationQuantities(entry({ calls }), known)).toMatchObject({ writeUnit: 3, readUnit: 0 });
  });

  it('is billed for its request, or for its message', () => {
    const { httpRequest, logKilobyte = 0 } = invocationQuantities(entry({ routeKey: 'POST /x' }), known);
    expect(httpRequest).toBe(1);
    expect(logKilobyte).toBeGreaterThan(0.5);
    expect(invocationQuantities(entry({ trigger: 'webhook' }), known).queueRequest).toBe(2);
  });

  it.each([
    ['units', entry({ calls: [call('dynamodb', 'GetItem')] })],
    ['log', entry({ requestId: 'another' })],
    ['service', entry({ calls: [call('sns', 'Publish')] })],
  ])('is not billed where its %s is not known', (_, one) => {
    expect(() => invocationQuantities(one, known)).toThrow(CannotBeCounted);
  });

  it('costs its share of a cold start beyond a warm one: an init phase at full speed, and a first invocation', () => {
    const cold = { initCpuMs: 60, cpuMs: 40, calls: [call('secretsmanager', 'GetSecretValue')] };
    const { coldStart, ...reads } = coldStartQuantities(entry(), [entry(cold), entry()]);
    // 1 GB for 60 + 40 × 1,769 / 1,024 + 10 = 140 instead of 18 ms, in 1 of 100
    expect(coldStart).toBeCloseTo(0.00122, 10);
    // Secrets Manager asks KMS.
    expect(reads).toEqual({ secretRead: 0.01, keyRequest: 0.01 });
  });
});

test('a machine has a transition for each state that was entered and each retry, and a line for each failure', () => {
  const task = ['TaskStateEntered', 'TaskScheduled', 'TaskSucceeded', 'TaskStateExited'];
  const retried = task.toSpliced(2, 0, 'TaskFailed', 'TaskScheduled', 'TaskFailed', 'TaskScheduled');
  expect(machineQuantities(['ExecutionStarted', ...task, ...retried, 'ExecutionSucceeded'])).toEqual({
    transition: 2 + 2,
    startAndEnd: 2,
    logKilobyte: 2 * 0.293,
  });
});

test('what is stored is billed for its days, and what leaves AWS by the byte', () => {
  const days = { recordRetentionDays: 120, resultsRetentionDays: 30, logRetentionDays: 30 } as const;
  const stored = storedQuantities({ record: 1_900, task: 900, logs: 5 * 1_024 }, days);
  // 2,000 bytes for 120 days: 2e9 / 2^30 GB × 3.95 months × $0.20 a million.
  expect(dollarsOf(stored, ['backupGigabyteMonth'])).toBeCloseTo(1.47, 2);
  expect(dollarsOf(stored)).toBeCloseTo(6.78, 2);
});
