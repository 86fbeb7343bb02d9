import validate from 'asl-validator';
import jsonata from 'jsonata';
import { describe, expect, test } from 'vitest';
import { maxEntries } from '#lib/extraction/deadlines.ts';
import { reconcileTimeout } from '../../../../infra/constructs/reconcile-queue.ts';
import {
  eventsPerWait,
  extractionMachineDefinition,
  pollAttempts,
  startRetryAttempts,
  worstCaseHistory,
} from '../../../../infra/extraction-machine-definition.ts';
import { maxHistoryEvents, readConfig } from '../../../../infra/settings/config.ts';
import { randomOf } from '../../../support/data/random.ts';
import { required } from '../synth.ts';

const functions = {
  startTask: 'arn:aws:lambda:eu-west-1:111122223333:function:start-task',
  reconcile: 'arn:aws:lambda:eu-west-1:111122223333:function:reconcile-extraction',
  startLine: 'StartLine',
};
const config = readConfig(required);
const definition = extractionMachineDefinition(config, functions);
const { StartTask, InLine, Reconcile } = definition.States;

/** The value of an expression, as plain JSON. */
const evaluated = async (expression: unknown, states: object): Promise<unknown> => {
  const value: unknown = await jsonata(String(expression).replace(/^{%|%}$/g, '')).evaluate({}, { states });
  return JSON.parse(JSON.stringify(value));
};

describe('the machine', () => {
  test('is valid in the Amazon States Language', () => {
    // A clone, as the validator changes its argument. It checks the fields of JSONata states, but no expressions.
    const { isValid, errorsText } = validate(structuredClone(definition));
    expect(isValid, errorsText()).toBe(true);
  });

  test('outlives the longest wait, and a start at the end of its window, by its slack', () => {
    expect(definition.TimeoutSeconds).toBe(21_600 + 900 + 7_200 + 900);
  });
});

const payload = StartTask.Arguments.Payload as Readonly<
  Record<'callbackAttempt' | 'entry' | 'isReleased', string>
>;

describe('StartTask', () => {
  test.each([
    ['the first attempt', {}, { Execution: {}, State: { RetryCount: 0 } }, 0, 0],
    ['a retry where the context knows no redrive', {}, { Execution: {}, State: { RetryCount: 7 } }, 0, 7],
    ['a wait', { entry: 3 }, { Execution: { RedriveCount: 0 }, State: { RetryCount: 1 } }, 3, 3_001],
    ['a redrive', { entry: 3 }, { Execution: { RedriveCount: 2 }, State: { RetryCount: 1 } }, 3, 2_003_001],
  ])('numbers attempts so that they grow over retries, waits and redrives: %s', async (...given) => {
    const [, input, context, entry, number] = given;
    expect(await evaluated(payload.entry, { input, context })).toBe(entry);
    expect(await evaluated(payload.callbackAttempt, { input, context })).toBe(number);
  });

  test.each([
    ['a code', { Cause: 'held/http-503' }, { lastProblem: 'held/http-503' }],
    ['a sentence', { Cause: 'See the log of start-task.' }, {}],
    ['an error of Lambda', { Cause: '{"errorType":"Runtime.ExitError"}' }, {}],
    ['nothing', {}, {}],
  ])('passes on the cause of a failure if it is a code: %s', async (_, errorOutput, passed) => {
    const caught = StartTask.Catch?.at(-1);
    expect(caught).toMatchObject({ ErrorEquals: ['States.ALL'], Next: 'Reconcile' });
    const input = { extractionId: 'e-1', requestId: 'r-1' };
    expect(await evaluated(caught?.Output, { input, errorOutput })).toEqual({
      extractionId: 'e-1',
      ...passed,
    });
  });

  test('retries no start that is over, cannot succeed, or has to wait', () => {
    const never = StartTask.Retry.flatMap(({ ErrorEquals, MaxAttempts }) =>
      MaxAttempts === 0 ? ErrorEquals : [],
    );
    expect(never).toEqual(['CiphertextExpired', 'StartWindowOver', 'Waits']);
  });

  test.each([8, 90, 899])('retries a start in progress until it is stale: %i s', (startTimeoutSeconds) => {
    const [inProgress] = extractionMachineDefinition({ ...config, startTimeoutSeconds }, functions).States
      .StartTask.Retry;
    expect(inProgress).toMatchObject({
      ErrorEquals: ['StartInProgress'],
      BackoffRate: 1,
      JitterStrategy: 'NONE',
    });
    const { IntervalSeconds = 0, MaxAttempts = 0 } = inProgress ?? {};
    expect(IntervalSeconds * MaxAttempts).toBeGreaterThanOrEqual(1.5 * startTimeoutSeconds);
  });
});

describe('InLine', () => {
  const input = { extractionId: 'e-1', requestId: 'r-1' };

  test('follows a start that must wait, with all that the start needs again', async () => {
    const caught = StartTask.Catch?.[0];
    expect(caught).toMatchObject({ ErrorEquals: ['Waits'], Next: 'InLine' });
    expect(await evaluated(caught?.Output, { input, errorOutput: { Error: 'Waits' } })).toEqual(input);
  });

  test('stores its callback token where the start has put its place, for no other request', async () => {
    expect(InLine.Resource).toBe('arn:aws:states:::aws-sdk:dynamodb:updateItem.waitForTaskToken');
    expect(InLine.Arguments).toMatchObject({
      TableName: 'StartLine',
      ConditionExpression: 'requestId = :requestId',
    });
    const { Key, ExpressionAttributeValues: values } = InLine.Arguments as {
      readonly Key: { readonly extractionId: { readonly S: string } };
      readonly ExpressionAttributeValues: Readonly<Record<string, { readonly S: string }>>;
    };
    const states = { input, context: { Task: { Token: 'token' } } };
    expect(await evaluated(Key.extractionId.S, states)).toBe('e-1');
    expect(await evaluated(values[':callbackToken']?.S, states)).toBe('token');
    expect(await evaluated(values[':requestId']?.S, states)).toBe('r-1');
  });

  test.each([
    ['released', InLine.Output],
    ['after any failure, such as the timeout of a line that nobody releases', InLine.Catch?.[0]?.Output],
  ])('leads to the start again, and counts: %s', async (_, output) => {
    expect(InLine.TimeoutSeconds).toBe(21_600);
    expect([InLine.Next, InLine.Catch?.[0]?.Next]).toEqual(['StartTask', 'StartTask']);
    const first = await evaluated(output, { input });
    expect(first).toMatchObject({ ...input, entry: 1 });
    expect(await evaluated(output, { input: first })).toMatchObject({ ...input, entry: 2 });
  });

  test.each([
    ['the first attempt after a release', InLine.Output, 1, 0, true],
    ['the first attempt after a wait that failed', InLine.Catch?.[0]?.Output, 1, 0, false],
    ['a retry', InLine.Output, 1, 1, false],
    ['a redrive', InLine.Output, 2, 0, false],
  ])('is a release for the next attempt only: %s', async (_, output, RedriveCount, RetryCount, expected) => {
    const before = { ...input, entry: 3, releasedFor: 1_003_000 };
    const next = await evaluated(output, { input: before, context: { Execution: { RedriveCount: 1 } } });
    const context = { Execution: { RedriveCount }, State: { RetryCount } };
    expect(await evaluated(payload.isReleased, { input: next, context })).toBe(expected);
    expect(await evaluated(payload.isReleased, { input, context })).toBe(false);
  });
});

describe('Reconcile', () => {
  test('passes the trigger and its input', async () => {
    const input = { extractionId: 'e-1', lastProblem: 'http-429' };
    expect(Reconcile.Arguments.FunctionName).toBe(functions.reconcile);
    const payload = await evaluated(Reconcile.Arguments.Payload, { input });
    expect(payload).toEqual({ trigger: 'machine', ...input });
  });

  test('polls again if AWS never answers: by then the function has ended', () => {
    expect(Reconcile.TimeoutSeconds).toBe(reconcileTimeout(config).toSeconds() + 10);
    expect(Reconcile.Retry[0]?.ErrorEquals).toContain('States.Timeout');
  });
});

describe('the arithmetic of retries', () => {
  test.each([
    ['the defaults', {}],
    ['a short window', { startWindowSeconds: 40, startRetryEverySeconds: 10 }],
    ['a long window', { startWindowSeconds: 14_400 }],
    ['intervals that do not grow', { startRetryFirstSeconds: 60 }],
  ])('runs out of start retries within the window in 1 of 200 executions at most, by %s', (_, given) => {
    const timings = { ...config, ...given };
    const { StartTask: state } = extractionMachineDefinition(timings, functions).States;
    const [, , { IntervalSeconds, BackoffRate, MaxDelaySeconds = IntervalSeconds, MaxAttempts }] =
      state.Retry as [unknown, unknown, (typeof state.Retry)[number]];
    const random = randomOf(1);
    const durations = Array.from({ length: 5_000 }, () => {
      const pauses = Array.from(
        { length: MaxAttempts },
        (_, retry) => random.next() * Math.min(IntervalSeconds * BackoffRate ** retry, MaxDelaySeconds),
      );
      return pauses.reduce((sum, pause) => sum + pause, 0);
    });
    const early = durations.filter((seconds) => seconds < timings.startWindowSeconds);
    expect(early.length / durations.length).toBeLessThan(1 / 200);
    const mean = durations.reduce((sum, seconds) => sum + seconds, 0) / durations.length;
    expect(mean).toBeLessThan(2 * timings.startWindowSeconds);
  });

  test('supports intervals that do not grow', () => {
    const steady = { ...config, deadlineSeconds: 90, machineSlackSeconds: 10, pollFirstSeconds: 2 };
    expect(pollAttempts({ ...steady, pollEverySeconds: 2 })).toBe(100);
    expect(pollAttempts({ ...steady, pollEverySeconds: 60, pollBackoff: 1 })).toBe(100);
    const fixed = extractionMachineDefinition({ ...steady, pollEverySeconds: 2 }, functions);
    const retry = { IntervalSeconds: 2, BackoffRate: 1, JitterStrategy: 'FULL', MaxAttempts: 100 };
    expect(fixed.States.Reconcile.Retry[0]).toMatchObject(retry);
  });

  test('keeps the history of an execution far from its 25,000 events', () => {
    const startRetries = startRetryAttempts(config) + 9;
    expect(worstCaseHistory(config)).toEqual({ startRetries, events: 4 * (startRetries + 1) + 3 * 140 + 6 });
    // An operator redrives it once. That continues the count of its waits.
    expect(2 * maxHistoryEvents + eventsPerWait * maxEntries).toBeLessThan(25_000);
  });
});
