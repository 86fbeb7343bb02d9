import validate from 'asl-validator';
import jsonata from 'jsonata';
import { describe, expect, test } from 'vitest';
import {
  extractionMachineDefinition,
  pollAttempts,
  startRetryAttempts,
  worstCaseHistory,
} from '../../../../infra/extraction-machine-definition.ts';
import { readConfig } from '../../../../infra/settings/config.ts';
import { randomOf } from '../../../support/data/random.ts';
import { required } from '../synth.ts';

const functions = {
  startTask: 'arn:aws:lambda:eu-west-1:111122223333:function:start-task',
  reconcile: 'arn:aws:lambda:eu-west-1:111122223333:function:reconcile-extraction',
};
const config = readConfig(required);
const definition = extractionMachineDefinition(config, functions);
const { StartTask, Reconcile, ReconcileAfterFailure } = definition.States;

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

  test('ends with the start, so that the happy path is one transition', () => {
    expect(definition.StartAt).toBe('StartTask');
    expect(Object.keys(definition.States)).toEqual(['StartTask', 'Reconcile', 'ReconcileAfterFailure']);
    expect([StartTask.End, StartTask.Next]).toEqual([true, undefined]);
    expect(Reconcile.End).toBe(true);
  });

  test('outlives the deadline by its slack', () => {
    expect(definition.TimeoutSeconds).toBe(7_200 + 900);
  });
});

describe('StartTask', () => {
  test('waits for its callback for webhookWaitSeconds', () => {
    expect(StartTask.Resource).toBe('arn:aws:states:::lambda:invoke.waitForTaskToken');
    expect(StartTask.TimeoutSeconds).toBe(600);
  });

  test('passes the input, the callback token and the attempt to start-task', () => {
    expect(StartTask.Arguments).toEqual({
      FunctionName: functions.startTask,
      Payload: {
        extractionId: '{% $states.input.extractionId %}',
        requestId: '{% $states.input.requestId %}',
        callbackToken: '{% $states.context.Task.Token %}',
        callbackAttempt: expect.stringMatching(/^{% .* %}$/),
      },
    });
  });

  test.each([
    ['the first attempt', { Execution: {}, State: { RetryCount: 0 } }, 0],
    ['a retry where the context knows no redrive', { Execution: {}, State: { RetryCount: 7 } }, 7],
    ['a redrive', { Execution: { RedriveCount: 2 }, State: { RetryCount: 1 } }, 2_001],
  ])('numbers attempts so that they grow over retries and redrives: %s', async (_, context, number) => {
    const { callbackAttempt } = StartTask.Arguments.Payload as { callbackAttempt: string };
    expect(await evaluated(callbackAttempt, { context })).toBe(number);
  });

  test('passes on nothing but the id if it succeeds', () => {
    expect(StartTask.Output).toEqual({ extractionId: '{% $states.input.extractionId %}' });
  });

  test.each([
    ['a code', { Cause: 'held/http-503' }, { lastProblem: 'held/http-503' }],
    ['a sentence', { Cause: 'See the log of start-task.' }, {}],
    ['an error of Lambda', { Cause: '{"errorType":"Runtime.ExitError"}' }, {}],
    ['nothing', {}, {}],
  ])('passes on the cause of a failure if it is a code: %s', async (_, errorOutput, passed) => {
    const [caught] = StartTask.Catch ?? [];
    expect(caught).toMatchObject({ ErrorEquals: ['States.ALL'], Next: 'Reconcile' });
    const input = { extractionId: 'e-1', requestId: 'r-1' };
    expect(await evaluated(caught?.Output, { input, errorOutput })).toEqual({
      extractionId: 'e-1',
      ...passed,
    });
  });

  test('retries every failure but a start in progress through the start window, whatever its name, and no expired ciphertext', () => {
    expect(StartTask.Retry.slice(1)).toEqual([
      expect.objectContaining({ ErrorEquals: ['CiphertextExpired', 'StartWindowOver'], MaxAttempts: 0 }),
      {
        ErrorEquals: ['States.TaskFailed'],
        IntervalSeconds: 2,
        MaxDelaySeconds: 60,
        BackoffRate: 2,
        JitterStrategy: 'FULL',
        MaxAttempts: startRetryAttempts(config),
      },
    ]);
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

describe('Reconcile', () => {
  test('passes the trigger, its input, and whether it follows a failure', async () => {
    const input = { extractionId: 'e-1', lastProblem: 'http-429' };
    for (const [state, afterFailure] of [
      [Reconcile, false],
      [ReconcileAfterFailure, true],
    ] as const) {
      expect(state.Arguments.FunctionName).toBe(functions.reconcile);
      const payload = await evaluated(state.Arguments.Payload, { input });
      expect(payload).toEqual({ trigger: 'machine', ...input, afterFailure });
    }
  });

  test('polls by being retried after NotYet, and after any other failure in a state of its own', () => {
    expect(Reconcile.Catch).toEqual([
      {
        ErrorEquals: ['States.ALL'],
        Output: '{% $states.input %}',
        Next: 'ReconcileAfterFailure',
      },
    ]);
    expect(ReconcileAfterFailure.Retry).toEqual([{ ...Reconcile.Retry[0], ErrorEquals: ['States.ALL'] }]);
    expect(Reconcile.Retry).toEqual([
      {
        ErrorEquals: ['NotYet'],
        IntervalSeconds: 5,
        MaxDelaySeconds: 120,
        BackoffRate: 2,
        JitterStrategy: 'FULL',
        MaxAttempts: 139,
      },
    ]);
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
    expect(fixed.States.Reconcile.Retry[0]).toEqual({
      ErrorEquals: ['NotYet'],
      IntervalSeconds: 2,
      BackoffRate: 1,
      JitterStrategy: 'FULL',
      MaxAttempts: 100,
    });
  });

  test('keeps the history of an execution far from its 25,000 events', () => {
    const startRetries = startRetryAttempts(config) + 9;
    expect(worstCaseHistory(config)).toEqual({ startRetries, events: 4 * (startRetries + 1) + 3 * 146 + 8 });
  });
});
