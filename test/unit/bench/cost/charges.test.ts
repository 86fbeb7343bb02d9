import { describe, expect, it } from 'vitest';
import { type Charge, dollarsOf, merge, times, totalOf } from '../../../bench/cost/bill/charge.ts';
import { naivePolling } from '../../../bench/cost/bill/designs.ts';
import { invocationCharges, type Known } from '../../../bench/cost/bill/invocation-charges.ts';
import { FIRST_POLL, FURTHER_POLL, pathCharges } from '../../../bench/cost/bill/path-charges.ts';
import { transitionsIn } from '../../../bench/cost/bill/transitions.ts';
import type { Facts, FunctionFacts } from '../../../bench/cost/facts.ts';
import { prices } from '../../../bench/cost/prices.ts';
import type { Call, Entry } from '../../../bench/ledger/entry.ts';
import { CannotBeCounted } from '../../../bench/units/dynamo-units.ts';

const machine = { logLevel: 'ERROR', logClass: 'STANDARD', webhookWaitSeconds: 600 } as const;
const settings: FunctionFacts = {
  memoryMB: 1_024,
  architecture: 'arm64',
  format: 'JSON',
  systemLevel: 'WARN',
  logClass: 'STANDARD',
};
const facts: Facts = {
  functions: { 'reconcile-extraction': settings },
  tables: {},
  isKeyAskedForEachObject: false,
  accessLog: { format: '$context.requestId', logClass: 'STANDARD' },
  signedRoutes: [],
  machine: {
    ...machine,
    poll: { IntervalSeconds: 5, BackoffRate: 1, MaxAttempts: 9, JitterStrategy: 'FULL' },
  },
  sweepsPerMonth: 8_640,
  secrets: 3,
  keys: 2,
};
const known: Known = {
  facts,
  units: new Map(),
  logs: new Map([['r', { own: [], stack: 0 }]]),
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

describe('a charge', () => {
  const charge: Charge = { where: 'here', what: 'it', price: 'transition', quantity: 2 };

  it('is its quantity at its price, for a million', () => {
    expect(dollarsOf(charge)).toBe(50);
    expect(totalOf(times([charge, charge], 0.5))).toBe(50);
  });

  it('is added to those of the same thing in the same place', () => {
    expect(merge([charge, { ...charge, where: 'there' }, charge])).toEqual([
      { ...charge, quantity: 4 },
      { ...charge, where: 'there' },
    ]);
  });
});

describe('the charges of an invocation', () => {
  it('are its request, its memory for as long as it ran and waited, and its calls', () => {
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

  it('have a request to KMS for each object where the bucket has no key of its own', () => {
    const asked = { ...known, facts: { ...facts, isKeyAskedForEachObject: true } };
    expect(
      quantityOf(invocationCharges(entry({ calls: [call('s3', 'PUT')] }), 10, asked), 'keyRequest'),
    ).toBe(1);
  });

  it('have a request to the API for each 512 KB that came over it', () => {
    const charges = invocationCharges(entry({ routeKey: 'POST /x', bodyBytes: 512 * 1_024 + 1 }), 10, known);
    expect(quantityOf(charges, 'httpRequest')).toBe(2);
    expect(quantityOf(charges, 'logKilobyte')).toBeCloseTo(0.017, 10);
  });

  it('have what was logged, at the price of the class that it is kept in', () => {
    const rare: Known = {
      ...known,
      logs: new Map([['r', { own: [600, 400], stack: 0 }]]),
      facts: {
        ...facts,
        functions: {
          'reconcile-extraction': { ...settings, architecture: 'x86_64', logClass: 'INFREQUENT_ACCESS' },
        },
      },
    };
    const charges = invocationCharges(entry(), 10, rare);
    expect(quantityOf(charges, 'rareLogKilobyte')).toBe(1);
    expect(quantityOf(charges, 'x86GigabyteSecond')).toBeGreaterThan(0);
  });

  it('have the units of DynamoDB, those of its index apart', () => {
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
  it('are the states entered, and each further attempt at a task', () => {
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

  it('have as many polls as are asked for, and one transition for each', () => {
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

  it('have what only the first poll does once', () => expect(quantityOf(charges, 'secretRead')).toBe(1));

  it('have no poll where the task has ended before', () => {
    const ended = pathCharges([sample], { first: 0, further: 0 }, known);
    expect(quantityOf(ended, 'invocation')).toBe(1);
    expect(quantityOf(ended, 'transition')).toBe(2);
  });

  it('leave naive polling with 38 transitions for 60 s', () => {
    const naive = naivePolling(charges, charges);
    expect(quantityOf(naive.charges, 'transition')).toBe(38);
  });
});

describe('the prices', () => {
  it('each name a page of AWS', () => {
    for (const { page } of Object.values(prices))
      expect(page).toMatch(/^https:\/\/aws\.amazon\.com\/.*pricing/);
  });
});
