import { expect, test } from 'vitest';
import {
  answerReconcile,
  NotYet,
  type ReconcileInvoker,
  reconcileInvokerOf,
  reconcileMessages,
} from '../../../../../lib/extraction/reconcile/reconcile.ts';
import type { Result } from '../../../../../lib/extraction/run.ts';
import {
  clock,
  closedExtraction,
  extractionIn,
  id,
  iso,
  timings,
} from '../../../../support/data/extraction-fixtures.ts';
import { memoryTelemetry } from '../../../../support/data/memory-telemetry.ts';

test('the machine reports a failure before, also by an earlier definition', () => {
  const earlier = {
    trigger: 'machine',
    extractionId: id,
    startAbandoned: false,
    sealedTarget: null,
  } as const;
  expect(reconcileInvokerOf(earlier)).toEqual({ kind: 'machine', afterFailure: false });
  expect(reconcileInvokerOf({ ...earlier, afterFailure: true })).toEqual({
    kind: 'machine',
    afterFailure: true,
  });
  expect(reconcileInvokerOf({ trigger: 'operator', extractionId: id })).toEqual({ kind: 'operator' });
});

const notYet: Result = {
  as: 'not-yet',
  record: extractionIn('RUNNING'),
  why: 'still-running',
  problem: undefined,
};

test('the machine gets NotYet with the reason', () => {
  expect(() => answerReconcile(id, notYet, 'machine')).toThrow(new NotYet('still-running'));
});

test('an operator, who does not retry, gets an answer', () => {
  expect(answerReconcile(id, notYet, 'operator')).toEqual({
    extractionId: id,
    status: 'RUNNING',
    deferred: true,
  });
});

test('the machine gets an answer if the record is closed, or if the queue continues', () => {
  const record = extractionIn('TIMED_OUT');
  const closed = answerReconcile(id, { as: 'closed', why: undefined, problem: undefined, record }, 'machine');
  expect(closed).toEqual({ extractionId: id, status: 'TIMED_OUT', deferred: false });
  const deferred = { as: 'deferred', record, why: 'still-running', problem: undefined } as const;
  expect(answerReconcile(id, deferred, 'machine')).toMatchObject({ deferred: true });
});

const gone: Result = { as: 'gone', why: undefined, problem: undefined, record: undefined };

test('without a record the answer is GONE', () => {
  expect(answerReconcile(id, gone, 'machine')).toEqual({
    extractionId: id,
    status: 'GONE',
    deferred: false,
  });
});

const once = { ApproximateReceiveCount: '1' };

const message = (extractionId: string, more: object = {}, attributes = once) => ({
  attributes,
  messageId: `message-of-${extractionId}`,
  body: JSON.stringify({ extractionId, cause: 'webhook', ...more }),
});

const world = (reconcile: (extractionId: string) => Promise<Result>, isSlow = false) => {
  const asked: (readonly [string, ReconcileInvoker])[] = [];
  const counted: (readonly [string, number])[] = [];
  const { telemetry, failures } = memoryTelemetry();
  return {
    asked,
    counted,
    failures,
    receive: (messages: Parameters<typeof reconcileMessages>[0]) =>
      reconcileMessages(messages, {
        isSlow,
        reconcile: (extractionId, invoker) => {
          asked.push([extractionId, invoker]);
          return reconcile(extractionId);
        },
        now: clock(1_000).now,
        timings,
        telemetry: {
          ...telemetry,
          count: (metric, { value = 1 } = {}) => void counted.push([metric, value]),
        },
      }),
  };
};

test('each message is reconciled with its cause, and done also if there is no record', async () => {
  const { receive, asked } = world(async () => gone);
  const dueAt = '2026-11-22T12:00:00.000Z';
  const answer = await receive([
    message('a'),
    message('b', { cause: 'execution-broken' }),
    message('c', { cause: 'due', dueAt }),
  ]);
  expect(answer).toEqual({ batchItemFailures: [] });
  expect(asked).toEqual([
    ['a', { kind: 'queue', cause: 'webhook', afterFailure: false, isSlow: false }],
    ['b', { kind: 'queue', cause: 'execution-broken', afterFailure: false, isSlow: false }],
    ['c', { kind: 'queue', cause: 'due', dueAt, afterFailure: false, isSlow: false }],
  ]);
});

test('a message of the slow queue is one', async () => {
  const { receive, asked } = world(async () => gone, true);
  await receive([message('a')]);
  expect(asked).toEqual([['a', { kind: 'queue', cause: 'webhook', afterFailure: false, isSlow: true }]]);
});

test('a message that is received again follows a failure', async () => {
  const { receive, asked } = world(async () => gone);
  await receive([message('a', {}, { ApproximateReceiveCount: '2' })]);
  expect(asked).toEqual([['a', { kind: 'queue', cause: 'webhook', afterFailure: true, isSlow: false }]]);
});

test('only the messages that failed are received again', async () => {
  const { receive, failures } = world(async (extractionId) => {
    if (extractionId === 'b') throw new Error('throttled');
    return gone;
  });
  expect(await receive([message('a'), message('b'), message('c')])).toEqual({
    batchItemFailures: [{ itemIdentifier: 'message-of-b' }],
  });
  expect(failures).toEqual(['An extraction could not be reconciled.']);
});

test.each([
  'no JSON',
  '{}',
  'null',
  '{"extractionId":"a"}',
  '{"extractionId":"a","cause":"curiosity"}',
  '{"extractionId":"","cause":"due"}',
  '{"extractionId":7,"cause":"due"}',
  '{"extractionId":"a","cause":"due","dueAt":"soon"}',
  '{"extractionId":"a","cause":"due","status":"COMPLETED"}',
])('%s is not a message: nothing is reconciled, and it ends as a dead letter', async (body) => {
  const { receive, asked } = world(async () => gone);
  expect(await receive([{ messageId: 'odd', body, attributes: once }])).toEqual({
    batchItemFailures: [{ itemIdentifier: 'odd' }],
  });
  expect(asked).toEqual([]);
});

const deferred = (record: ReturnType<typeof extractionIn>): Result => ({
  as: 'deferred',
  record,
  why: 'still-running',
  problem: undefined,
});

test('a record that is stuck is reported in seconds, as the reconcile left it', async () => {
  // Stuck for 400 s, however often it was rescheduled.
  const stuck = extractionIn('RUNNING', { deadlineAt: iso(600 - timings.machineSlack) });
  const { receive, counted } = world(async () => deferred(stuck));
  await receive([message('a')]);
  expect(counted).toEqual([['OldestStuckSeconds', 400]]);
});

test('a record that the reconcile closed or advanced is not stuck, however late', async () => {
  const advanced = deferred(extractionIn('TIMED_OUT', { settledAt: iso(1_000) }));
  const closed: Result = {
    as: 'closed',
    why: undefined,
    problem: undefined,
    record: closedExtraction({ status: 'COMPLETED' }),
  };
  for (const result of [advanced, closed]) {
    const { receive, counted } = world(async () => result);
    await receive([message('a')]);
    expect(counted).toEqual([]);
  }
});
