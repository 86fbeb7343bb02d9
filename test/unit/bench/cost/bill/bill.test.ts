import { describe, expect, it, test } from 'vitest';
import { waitedMs } from '../../../../bench/cost/bill/billed-duration.ts';
import type { Charge } from '../../../../bench/cost/bill/charge.ts';
import { coldStartCharges, coldStartsOf } from '../../../../bench/cost/bill/cold-starts.ts';
import { expectedPolls, type Retrier } from '../../../../bench/cost/bill/expected-polls.ts';
import { invocationCharges, type Known } from '../../../../bench/cost/bill/invocation-charges.ts';
import { FIRST_POLL, FURTHER_POLL, pathCharges } from '../../../../bench/cost/bill/path-charges.ts';
import { withTaskTokens } from '../../../../bench/cost/bill/task-tokens.ts';
import { transitionsIn } from '../../../../bench/cost/bill/transitions.ts';
import type { Facts } from '../../../../bench/cost/read-template.ts';
import type { Call, Entry } from '../../../../bench/ledger/entry.ts';
import { CannotBeCounted } from '../../../../bench/units/dynamo-units.ts';
import { randomOf } from '../../../../support/random.ts';

const retrier: Retrier = {
  IntervalSeconds: 5,
  BackoffRate: 2,
  MaxDelaySeconds: 120,
  MaxAttempts: 139,
  JitterStrategy: 'FULL',
};
const steady: Retrier = { ...retrier, BackoffRate: 1, JitterStrategy: 'NONE' };

/** The same by chance: the mean of many runs. */
const simulated = (one: Retrier, taskSeconds: number, pollSeconds: number): number => {
  const random = randomOf(1);
  const runs = 20_000;
  let polls = 0;
  for (let run = 0; run < runs; run += 1) {
    let at = 0;
    for (let retry = 0; at < taskSeconds && retry <= one.MaxAttempts; retry += 1) {
      polls += 1;
      const most = Math.min(
        one.IntervalSeconds * one.BackoffRate ** retry,
        one.MaxDelaySeconds ?? Number.MAX_VALUE,
      );
      at += pollSeconds + random.next() * most;
    }
  }
  return polls / runs;
};

describe('the polls that find a task running', () => {
  it('are none if it ends before the first', () => {
    expect(expectedPolls(retrier, { firstSeconds: 600, taskSeconds: 60, pollSeconds: 0.4 })).toBe(0);
  });

  it('come at every interval without jitter', () => {
    expect(expectedPolls(steady, { firstSeconds: 0, taskSeconds: 60, pollSeconds: 0 })).toBeCloseTo(12, 5);
  });

  it('are fewer if each takes longer', () => {
    // At 0, 10, … 50 s.
    expect(expectedPolls(steady, { firstSeconds: 0, taskSeconds: 60, pollSeconds: 5 })).toBeCloseTo(6, 5);
  });

  it('are at most as many as the tries', () => {
    const once = { ...steady, MaxAttempts: 1 };
    expect(expectedPolls(once, { firstSeconds: 0, taskSeconds: 60, pollSeconds: 0 })).toBeCloseTo(2, 5);
  });

  it('are half a poll more if the pause is too long half of the time', () => {
    const once = { ...retrier, MaxAttempts: 1 };
    const polls = expectedPolls(once, { firstSeconds: 0, taskSeconds: 2.5, pollSeconds: 0 });
    expect(polls).toBeCloseTo(1.5, 1);
  });

  it.each([60, 300, 600])('are on average as many as %i s of them by chance', (taskSeconds) => {
    const polls = expectedPolls(retrier, { firstSeconds: 0, taskSeconds, pollSeconds: 0.4 });
    expect(polls / simulated(retrier, taskSeconds, 0.4)).toBeCloseTo(1, 1);
  });
});

const facts: Facts = {
  memoryMB: { 'reconcile-extraction': 1_024 },
  tables: {},
  accessLogFormat: '$context.requestId',
  signedRoutes: [],
  webhookRateLimit: 100,
  machine: {
    webhookWaitSeconds: 600,
    poll: { IntervalSeconds: 5, BackoffRate: 1, MaxAttempts: 9, JitterStrategy: 'FULL' },
  },
};
const known: Known = {
  facts,
  units: new Map(),
  logs: new Map([['r', { own: 0, stack: 0 }]]),
  tables: new Map([['records', { name: 'Records', keys: ['id'], indexes: [] }]]),
};

const call = (service: string, operation: string, startedAt = 0): Call => ({
  ...{ service, operation, startedAt, endedAt: startedAt + 1, statusCode: 200, answerBytes: 0 },
});
const entry = (more: Partial<Entry> = {}): Entry => ({
  ...{ function: 'reconcile-extraction', requestId: 'r', ordinal: 2, cpuMs: 10, startedAt: 0, endedAt: 1 },
  ...{ failed: false, bodyBytes: 0, calls: [] },
  ...more,
});

const quantityOf = (charges: readonly Omit<Charge, 'where'>[], price: Charge['price']): number =>
  charges.filter((charge) => charge.price === price).reduce((sum, { quantity }) => sum + quantity, 0);

describe('the charges of an invocation', () => {
  it('are its request, its memory for the billed duration, and its calls', () => {
    const charges = invocationCharges(
      entry({ calls: [call('kms', 'Decrypt'), call('provider', 'GET', 2), call('s3', 'PUT', 4)] }),
      10,
      known,
    );
    expect(quantityOf(charges, 'invocation')).toBe(1);
    // 1 GB for 10 × 1,769 / 1,024 + 10 + 400 + 10 = 437.3 ms
    expect(quantityOf(charges, 'armGigabyteSecond')).toBeCloseTo(0.438, 10);
    expect(quantityOf(charges, 'keyRequest')).toBe(1);
    expect(quantityOf(charges, 'put')).toBe(1);
  });

  it('have a request to the API for each 512 KB that came over it', () => {
    const charges = invocationCharges(entry({ routeKey: 'POST /x', bodyBytes: 512 * 1_024 + 1 }), 10, known);
    expect(quantityOf(charges, 'httpRequest')).toBe(2);
  });

  it('have the units of DynamoDB, with those of the index apart', () => {
    const update = { ...call('dynamodb', 'UpdateItem'), asked: { TableName: 'records' } };
    const units = new Map([[update, { write: 2, index: 1, read: 0, bytes: 1_100 }]]);
    const charges = invocationCharges(entry({ calls: [update] }), 10, { ...known, units });
    expect(charges).toContainEqual({ what: 'Records UpdateItem', price: 'writeUnit', quantity: 2 });
    expect(charges).toContainEqual({
      what: 'Records UpdateItem, its index',
      price: 'writeUnit',
      quantity: 1,
    });
  });

  it.each([
    ['units', entry({ calls: [{ ...call('dynamodb', 'GetItem'), asked: { TableName: 'records' } }] })],
    ['log', entry({ requestId: 'another' })],
    ['function', entry({ function: 'another' })],
  ])('are not made up where its %s is not known', (_, one) => {
    expect(() => invocationCharges(one, 10, known)).toThrow(CannotBeCounted);
  });

  it('leave no service without a price', () => {
    expect(() => invocationCharges(entry({ calls: [call('sns', 'Publish')] }), 10, known)).toThrow(
      'sns Publish',
    );
  });
});

const events = (...types: readonly string[]) =>
  types.map((type, id) => ({ id, type, timestamp: new Date(0) }));
const polledHistory = events(
  ...['ExecutionStarted', 'TaskStateEntered', 'TaskScheduled', 'TaskSucceeded', 'TaskStateExited'],
  ...['TaskStateEntered', 'TaskScheduled', 'TaskFailed', 'TaskScheduled', 'TaskFailed'],
  ...['TaskScheduled', 'TaskSucceeded', 'TaskStateExited', 'ExecutionSucceeded'],
) as Parameters<typeof transitionsIn>[0];

describe('the transitions of a history', () => {
  it('are the entered states and the retries of a task', () => {
    expect(transitionsIn(polledHistory)).toEqual({ entered: 2, retries: 2 });
  });
});

describe('the charges of a path', () => {
  const sample = {
    history: polledHistory,
    entries: [
      entry({ failed: true, calls: [call('secretsmanager', 'GetSecretValue')] }),
      entry({ failed: true }),
      entry(),
    ],
    downloads: 1,
  };
  const [further, once] = [6.5, 1];
  const charges = pathCharges([sample, sample], { first: once, further }, known);

  it('have the expected number of polls, with one transition each', () => {
    const requests = (where: string) =>
      quantityOf(
        charges.filter((one) => one.where === where),
        'invocation',
      );
    expect(requests(FIRST_POLL)).toBe(once);
    expect(requests(FURTHER_POLL)).toBe(further);
    expect(requests('reconcile-extraction')).toBe(1);
    expect(quantityOf(charges, 'transition')).toBe(2 + once + further);
  });

  it('have the calls of only the first poll once', () => expect(quantityOf(charges, 'secretRead')).toBe(1));

  it('have no poll if the task has ended before', () => {
    const ended = pathCharges([sample], { first: 0, further: 0 }, known);
    expect(quantityOf(ended, 'invocation')).toBe(1);
    expect(quantityOf(ended, 'transition')).toBe(2);
  });
});

describe('cold starts', () => {
  const warm: readonly Charge[] = invocationCharges(entry(), 10, known).map((item) => ({
    ...item,
    where: 'reconcile-extraction, first poll',
  }));
  const first = entry({
    ...{ ordinal: 1, initCpuMs: 60, cpuMs: 40 },
    calls: [call('secretsmanager', 'GetSecretValue')],
  });
  const coldStarts = coldStartsOf([first, entry()], known);
  const charges = coldStartCharges(warm, coldStarts, known);

  it('have an init phase at full speed, whatever the memory, and a first invocation at its share of a vCPU', () => {
    // 40 × 1,769 / 1,024 + 10 = 79.1 ms
    expect(coldStarts.get('reconcile-extraction')).toEqual({ initMs: 60, firstMs: 80, secretReads: 1 });
  });

  it('add their share of what they take beyond a warm invocation', () => {
    // 1 GB for 60 + 80 instead of 18 ms, in 1 of 100
    expect(quantityOf(charges, 'armGigabyteSecond')).toBeCloseTo(0.00122, 10);
    expect(quantityOf(charges, 'secretRead')).toBeCloseTo(0.01, 10);
  });
});

describe('the waits of an invocation', () => {
  const wait = (startedAt: number, endedAt: number, assumedMs: number) => ({ startedAt, endedAt, assumedMs });

  it('are added if they are consecutive', () => {
    expect(waitedMs([wait(0, 2, 10), wait(2, 3, 400), wait(5, 6, 10)])).toBe(420);
  });

  it('are the longest one if they overlap', () => {
    expect(waitedMs([wait(3, 9, 10), wait(0, 4, 400), wait(1, 2, 10)])).toBe(400);
  });
});

describe('task-tokens', () => {
  const call = (service: string, operation: string): Call => ({
    ...{ service, operation, startedAt: 1, endedAt: 2, statusCode: 200, answerBytes: 0 },
  });
  const [read, token, message] = [
    call('provider', 'GET'),
    call('provider', 'POST'),
    call('sqs', 'SendMessage'),
  ];
  const entry = (cpuMs: number, ...calls: readonly Call[]): Entry => ({
    ...{ function: 'reconcile-extraction', requestId: 'r', ordinal: 2, cpuMs, startedAt: 0, endedAt: 3 },
    ...{ failed: false, bodyBytes: 0, calls },
  });

  test('each read of the provider gets a Task Token, and its CPU time', () => {
    const first = entry(15, token, read, message);
    const early = entry(2, message);
    const entries = [first, early, entry(10, read, message), entry(30, read)];
    const [sample] = withTaskTokens([{ history: [], downloads: 1, entries }]);
    const cost = sample?.entries.map(({ cpuMs, calls }) => [cpuMs, calls.length]);
    // The polls without a token have a median of 6 ms.
    expect(cost).toEqual([
      [15, 3],
      [2, 1],
      [19, 3],
      [39, 2],
    ]);
    expect(sample?.entries[3]?.calls[1]).toMatchObject({
      ...call('provider', 'POST'),
      startedAt: 4,
      endedAt: 4,
    });
  });
});
