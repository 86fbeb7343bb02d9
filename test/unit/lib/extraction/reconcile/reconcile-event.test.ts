import { expect, test } from 'vitest';
import type { Result } from '#lib/extraction/plan.ts';
import {
  answerReconcile,
  NotYet,
  type ReconcileInvoker,
  reconcileInvokerOf,
  reconcileMessages,
} from '#lib/extraction/reconcile/reconcile.ts';
import {
  clock,
  closedExtraction,
  extractionIn,
  id,
  iso,
  timings,
} from '../../../../support/data/extraction-fixtures.ts';
import { memoryTelemetry } from '../../../../support/data/memory-telemetry.ts';

test('the machine passes on why the last start failed, and an operator invokes too', () => {
  const event = { trigger: 'machine', extractionId: id, lastProblem: 'http-429' } as const;
  expect(reconcileInvokerOf(event)).toEqual({ kind: 'machine', lastProblem: 'http-429' });
  expect(reconcileInvokerOf({ trigger: 'operator', extractionId: id })).toEqual({ kind: 'operator' });
});

const because = { explanation: 'still-running', error: undefined, problem: undefined } as const;
const record = extractionIn('RUNNING');
const notYet: Result = { conclusion: 'not-yet', record, ...because };
const gone: Result = { ...because, conclusion: 'gone', explanation: undefined, record: undefined };

test.each<readonly [string, Result, 'machine' | 'operator', string, boolean]>([
  [
    'the machine, if the queue continues',
    { conclusion: 'deferred', record, ...because },
    'machine',
    'RUNNING',
    true,
  ],
  ['the machine, if the record is closed', { ...notYet, conclusion: 'closed' }, 'machine', 'RUNNING', false],
  ['the machine, if there is no record', gone, 'machine', 'GONE', false],
  ['an operator, if it is asked again', notYet, 'operator', 'RUNNING', true],
])('%s gets an answer', (_who, result, invoker, status, deferred) => {
  expect(answerReconcile(id, result, invoker)).toEqual({ extractionId: id, status, deferred });
});

test('the machine gets NotYet as long as it has to ask again', () => {
  expect(() => answerReconcile(id, notYet, 'machine')).toThrow(new NotYet('still-running'));
});

const message = (extractionId: string, more: object = {}) => ({
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

const dueAt = '2026-11-22T12:00:00.000Z';
const queue = { kind: 'queue', cause: 'webhook', isSlow: false } as const;

test.each<readonly [string, ReturnType<typeof message>, ReconcileInvoker]>([
  ['has a cause', message('a'), queue],
  ['may have a dueAt', message('a', { cause: 'due', dueAt }), { ...queue, cause: 'due', dueAt }],
  ['of the slow queue is one', message('a'), { ...queue, isSlow: true }],
])('a message %s, and is done also if there is no record', async (_what, received, invoker) => {
  const { receive, asked } = world(async () => gone, invoker.kind === 'queue' && invoker.isSlow);
  expect(await receive([received])).toEqual({ batchItemFailures: [] });
  expect(asked).toEqual([['a', invoker]]);
});

test('only the messages that failed are received again', async () => {
  const { receive, failures } = world(async (extractionId) => {
    if (extractionId === 'b') throw new Error('throttled');
    return gone;
  });
  expect(await receive([message('a'), message('b'), message('c')])).toEqual({
    batchItemFailures: [{ itemIdentifier: 'message-of-b' }],
  });
  expect(failures).toEqual(['A message of the reconcile queue could not be handled.']);
});

test.each([
  'no JSON',
  'null',
  '{"extractionId":"a","cause":"curiosity"}',
  '{"extractionId":"","cause":"due"}',
  '{"extractionId":"a","cause":"due","dueAt":"soon"}',
  '{"extractionId":"a","cause":"due","status":"COMPLETED"}',
])('%s is not a message: nothing is reconciled, and it ends as a dead letter', async (body) => {
  const { receive, asked } = world(async () => gone);
  expect(await receive([{ messageId: 'odd', body }])).toEqual({
    batchItemFailures: [{ itemIdentifier: 'odd' }],
  });
  expect(asked).toEqual([]);
});

const stuck = extractionIn('RUNNING', { deadlineAt: iso(600 - timings.machineSlack) });
const advanced = extractionIn('TIMED_OUT', { settledAt: iso(1_000) });

test.each([
  ['is stuck is reported in seconds, however often it was rescheduled', stuck, [['OldestStuckSeconds', 400]]],
  ['was advanced is not stuck, however late', advanced, []],
  ['was closed is not stuck, however late', closedExtraction({ status: 'COMPLETED' }), []],
])('a record that %s', async (_what, left, expected) => {
  const { receive, counted } = world(async () => ({ conclusion: 'deferred', record: left, ...because }));
  await receive([message('a')]);
  expect(counted).toEqual(expected);
});

test('a record that is gone is not stuck', async () => {
  const { receive, counted } = world(async () => gone);
  await receive([message('a')]);
  expect(counted).toEqual([]);
});
