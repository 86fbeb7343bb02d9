import { describe, expect, it, test } from 'vitest';
import { billedMs } from '../../../../bench/cost/bill/billed-duration.ts';
import { type Charge, dollarsOf } from '../../../../bench/cost/bill/charge.ts';
import { coldStartCharges, coldStartsOf } from '../../../../bench/cost/bill/cold-starts.ts';
import { pollsByMachine, pollsByQueue } from '../../../../bench/cost/bill/expected-polls.ts';
import { invocationCharges, type Known } from '../../../../bench/cost/bill/invocation-charges.ts';
import {
  FIRST_POLL,
  FURTHER_POLL,
  pathCharges,
  transitionsIn,
} from '../../../../bench/cost/bill/path-charges.ts';
import { storedCharges } from '../../../../bench/cost/bill/stored-charges.ts';
import { withTaskTokens } from '../../../../bench/cost/bill/with-task-tokens.ts';
import type { Facts } from '../../../../bench/cost/template-facts.ts';
import type { Call, Entry } from '../../../../bench/ledger/entry.ts';
import { CannotBeCounted } from '../../../../bench/units/item-bytes.ts';

const retrier = { IntervalSeconds: 5, BackoffRate: 2, MaxDelaySeconds: 120, MaxAttempts: 139 };

test.each([
  ['the task has ended before the first', {}, 0, 0.4, 0],
  // Renewals by uniform pauses: t / 2.5 + 2 / 3.
  ['pauses do not grow', { BackoffRate: 1 }, 60, 0, 24.67],
  ['each poll outlasts the task', {}, 60, 60, 1],
  ['there is one retry', { MaxAttempts: 1 }, 60, 0, 2],
  ['the only pause is too long half of the time', { MaxAttempts: 1 }, 2.5, 0, 1.5],
  // Calculated from the distribution of the pauses, in steps of 0.1 s.
  ['pauses grow to two minutes', {}, 600, 0.4, 14.28],
])('the polls of the machine are counted where %s', (_, more, taskSeconds, pollSeconds, expected) => {
  expect(pollsByMachine({ ...retrier, ...more }, taskSeconds, pollSeconds)).toBeCloseTo(expected, 1);
});

test.each([
  [5, 0],
  // At 5, 10, 20 and 40 s.
  [60, 4],
  // And at 80, 160, 280, 400 and 520 s.
  [600, 9],
])('the queue polls a task of %i s %i times before its end', (taskSeconds, polls) => {
  expect(pollsByQueue(retrier, taskSeconds)).toBe(polls);
});

const facts: Facts = {
  memoryMB: { 'reconcile-extraction': 1_024 },
  accessLogFormat: '$context.requestId',
  signedRoutes: [],
  webhookRateLimit: 100,
  retention: { recordDays: 120, taskDays: 30, resultsDays: 30, logDays: 30 },
  machine: { webhookWaitSeconds: 600, poll: retrier },
};
const known: Known = { facts, units: new Map(), logs: new Map([['r', { own: 0, stack: 0 }]]) };

const call = (service: string, operation: string, startedAt = 0, endedAt = startedAt + 1): Call => ({
  service,
  operation,
  startedAt,
  endedAt,
  statusCode: 200,
  answerBytes: 0,
});
const entry = (more: Partial<Entry> = {}): Entry => ({
  function: 'reconcile-extraction',
  requestId: 'r',
  ordinal: 2,
  cpuMs: 10,
  startedAt: 0,
  endedAt: 1,
  failed: false,
  bodyBytes: 0,
  calls: [],
  ...more,
});

const quantityOf = (charges: readonly Charge[], price: Charge['price']): number =>
  charges.filter((charge) => charge.price === price).reduce((sum, { quantity }) => sum + quantity, 0);

test.each([
  [
    'consecutive waits are added',
    [
      [0, 2],
      [2, 3],
      [5, 6],
    ],
    420,
  ],
  [
    'of simultaneous waits the longest counts',
    [
      [3, 9],
      [0, 4],
      [1, 2],
    ],
    400,
  ],
])('%s', (_, waits, expected) => {
  const calls = waits.map(([from, to], index) => call(index === 1 ? 'provider' : 'kms', '', from, to));
  expect(billedMs(calls, 0, 1_024)).toBe(expected);
});

describe('the charges of an invocation', () => {
  const update = { ...call('dynamodb', 'UpdateItem'), asked: { TableName: 'records' } };
  const counted = { table: 'Records', write: 2, index: 1, read: 0, bytes: 1_100 };
  const units = new Map([[update, counted]]);
  const calls = [call('kms', 'Decrypt'), call('provider', 'GET', 2), call('s3', 'PUT', 4)];

  test.each([
    ['request', 'invocation', 1, entry()],
    // 1 GB for 10 × 1,769 / 1,024 + 10 + 400 + 10 = 437.3 ms
    ['duration at 1024 MB', 'armGigabyteSecond', 0.438, entry({ calls })],
    ['KMS Decrypt', 'keyRequest', 1, entry({ calls })],
    ['S3 PUT', 'put', 1, entry({ calls })],
    ['API: POST /x', 'httpRequest', 2, entry({ routeKey: 'POST /x', bodyBytes: 512 * 1_024 + 1 })],
    ['Records UpdateItem', 'writeUnit', 2, entry({ calls: [update] })],
    ['Records UpdateItem, its index', 'writeUnit', 1, entry({ calls: [update] })],
    ['receive and delete the message', 'queueRequest', 2, entry({ trigger: 'webhook' })],
  ] as const)('have the item %s', (what, price, quantity, one) => {
    const charge = invocationCharges(one, 10, { ...known, units }).find((each) => each.what === what);
    expect(charge).toEqual({
      where: 'reconcile-extraction',
      what,
      price,
      quantity: expect.closeTo(quantity, 10),
    });
  });

  it('have the bytes of logs', () => {
    const logs = new Map([['r', { own: 500, stack: 40 }]]);
    const bytes = (one: Entry) =>
      1_000 * quantityOf(invocationCharges(one, 10, { ...known, logs }), 'logKilobyte');
    expect(bytes(entry())).toBeGreaterThan(500);
    expect(bytes(entry({ failed: true }))).toBeGreaterThan(bytes(entry()) + 40);
  });

  it.each([
    ['units', entry({ calls: [call('dynamodb', 'GetItem')] })],
    ['log', entry({ requestId: 'another' })],
    ['function', entry({ function: 'another' })],
    ['service', entry({ calls: [call('sns', 'Publish')] })],
  ])('are not made up where its %s is not known', (_, one) => {
    expect(() => invocationCharges(one, 10, known)).toThrow(CannotBeCounted);
  });
});

describe('the charges of a path', () => {
  const history = [
    'ExecutionStarted',
    'TaskStateEntered',
    'TaskScheduled',
    'TaskSucceeded',
    'TaskStateExited',
    'TaskStateEntered',
    'TaskScheduled',
    'TaskFailed',
    'TaskScheduled',
    'TaskFailed',
    'TaskScheduled',
    'TaskSucceeded',
    'TaskStateExited',
    'ExecutionSucceeded',
  ].map((type, id) => ({ id, type, timestamp: new Date(0) })) as Parameters<typeof transitionsIn>[0];
  const sample = {
    history,
    entries: [
      entry({ failed: true, calls: [call('secretsmanager', 'GetSecretValue')] }),
      entry({ failed: true }),
      entry(),
    ],
  };
  const charges = pathCharges([sample, sample], { first: 1, further: 6.5 }, known);

  it('have a transition for each state that was entered and each retry', () => {
    expect(transitionsIn(history)).toEqual({ entered: 2, retries: 2 });
  });

  it('have the expected number of polls, with one transition each', () => {
    const invocations = [FIRST_POLL, FURTHER_POLL, 'reconcile-extraction'].map((where) =>
      quantityOf(
        charges.filter((one) => one.where === where),
        'invocation',
      ),
    );
    expect(invocations).toEqual([1, 6.5, 1]);
    expect(quantityOf(charges, 'transition')).toBe(2 + 1 + 6.5 + 2); // The last two are Start and End.
  });

  it('have the calls of only the first poll once', () => expect(quantityOf(charges, 'secretRead')).toBe(1));

  it('have no poll if the task has ended before', () => {
    const ended = pathCharges([sample], { first: 0, further: 0 }, known);
    expect(quantityOf(ended, 'invocation')).toBe(1);
    expect(quantityOf(ended, 'transition')).toBe(4);
  });
});

describe('cold starts', () => {
  const warm = invocationCharges(entry(), 10, known, 'reconcile-extraction, first poll');
  const calls = [call('secretsmanager', 'GetSecretValue')];
  const coldStarts = coldStartsOf([entry({ ordinal: 1, initCpuMs: 60, cpuMs: 40, calls }), entry()], facts);
  const charges = coldStartCharges(warm, coldStarts, facts);

  it('have an init phase at full speed, whatever the memory, and a first invocation at its share of a vCPU', () => {
    // 40 × 1,769 / 1,024 + 10 = 79.1 ms
    expect(coldStarts).toEqual([
      { function: 'reconcile-extraction', initMs: 60, firstMs: 80, secretReads: 1 },
    ]);
  });

  it('add their share of what they take beyond a warm invocation', () => {
    // 1 GB for 60 + 80 instead of 18 ms, in 1 of 100
    expect(quantityOf(charges, 'armGigabyteSecond')).toBeCloseTo(0.00122, 10);
    expect(quantityOf(charges, 'secretRead')).toBeCloseTo(0.01, 10);
  });
});

test('by consent, each read of the provider gets a Task Token, and its CPU time', () => {
  const [read, token, message] = [
    call('provider', 'GET'),
    call('provider', 'POST'),
    call('sqs', 'SendMessage'),
  ];
  const entries = [
    entry({ cpuMs: 15, calls: [token, read, message] }),
    entry({ cpuMs: 2, calls: [message] }),
    entry({ cpuMs: 10, calls: [read, message] }),
    entry({ cpuMs: 30, calls: [read], endedAt: 3 }),
  ];
  const [sample] = withTaskTokens([{ history: [], entries }]);
  // The polls without a token have a median of 6 ms.
  expect(sample?.entries.map(({ cpuMs, calls }) => [cpuMs, calls.length])).toEqual([
    [15, 3],
    [2, 1],
    [19, 3],
    [39, 2],
  ]);
  expect(sample?.entries[3]?.calls[1]).toMatchObject({ ...call('provider', 'POST', 4, 4) });
});

test('what is stored is billed for its days, and what leaves AWS by the byte', () => {
  const logged: Charge = { where: 'f', what: 'log', price: 'logKilobyte', quantity: 5 };
  const items = new Map([
    ['Extractions', 1_900],
    ['Tasks', 900],
  ]);
  const charges = storedCharges(items, [logged], facts.retention);
  // 2,000 bytes for 120 days: 2e9 / 2^30 GB × 3.95 months × $0.25 a million.
  const [record, backup] = charges.map((charge) => dollarsOf(charge));
  expect(record).toBeCloseTo(1.84, 2);
  expect(backup).toBeCloseTo(1.47, 2);
  const total = charges.reduce((sum, charge) => sum + dollarsOf(charge), 0);
  expect(total).toBeCloseTo(6.78, 2);
});
