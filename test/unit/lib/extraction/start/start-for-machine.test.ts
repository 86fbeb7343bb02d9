import { expect, test } from 'vitest';
import type { Extraction } from '../../../../../lib/extraction/record.ts';
import { type StartForMachineDeps, startForMachine } from '../../../../../lib/extraction/start/start.ts';
import { ProviderBusy, ProviderRefused } from '../../../../../lib/provider/transport/errors.ts';
import {
  at,
  consentExtraction,
  extraction,
  extractionIn,
  id,
  iso,
  timings,
} from '../../../../support/data/extraction-fixtures.ts';
import { memoryTelemetry } from '../../../../support/data/memory-telemetry.ts';
import { breakerThat, closedCircuit } from '../../../../support/stores/memory-breaker-store.ts';
import { memoryExtractionStore } from '../../../../support/stores/memory-extraction-store.ts';
import { memoryMarks } from '../../../../support/stores/memory-refusal-store.ts';
import { memoryRequestStore, storedRequest } from '../../../../support/stores/memory-request-store.ts';
import { memoryTaskStore } from '../../../../support/stores/memory-task-store.ts';

const input = {
  extractionId: id,
  requestId: 'request-1',
  callbackToken: 'token-1',
  callbackAttempt: 0,
};

const world = (setup: {
  readonly post: () => Promise<string>;
  readonly record?: Extraction;
  readonly send?: StartForMachineDeps['send'];
  readonly wake?: StartForMachineDeps['wake'];
  readonly fail?: StartForMachineDeps['fail'];
}) => {
  const extractions = memoryExtractionStore();
  extractions.items.set(id, setup.record ?? extraction());
  const answers: string[] = [];
  const { counted, failures, telemetry } = memoryTelemetry();
  const deps: StartForMachineDeps = {
    extractions,
    tasks: memoryTaskStore(),
    ...memoryMarks(),
    requests: memoryRequestStore({}, storedRequest(id)),
    callFor: async () => ({
      tokens: { current: async () => 'session', drop: () => undefined },
      renewable: true,
      post: setup.post,
    }),
    breaker: closedCircuit,
    whenSlow: () => () => undefined,
    logIn: async () => undefined,
    newAttemptId: () => 'attempt-1',
    now: () => at(5),
    timings,
    telemetry,
    send: async ({ cause, dueAt = 'now' }, delaySeconds) =>
      void answers.push(`send ${cause} ${dueAt} ${delaySeconds}`),
    wake: async (token, extractionId) => {
      answers.push(`wake ${token} ${extractionId}`);
      return 'woken';
    },
    fail: async (token, error, cause) =>
      void answers.push(`fail ${token} ${error}`, ...(cause.includes(' ') ? [] : [cause])),
    ...(setup.send === undefined ? {} : { send: setup.send }),
    ...(setup.wake === undefined ? {} : { wake: setup.wake }),
    ...(setup.fail === undefined ? {} : { fail: setup.fail }),
  };
  return { deps, answers, counted, failures };
};

test('for a task with webhook the machine waits', async () => {
  const { deps, answers } = world({ post: async () => 'task-1' });
  expect(await startForMachine(input, deps)).toMatchObject({ as: 'waiting' });
  expect(answers).toEqual([]);
});

test('a task without webhook is polled by the queue, and only then the machine ends', async () => {
  const { deps, answers } = world({ post: async () => 'task-1', record: consentExtraction() });
  expect(await startForMachine(input, deps)).toMatchObject({ as: 'queued', record: { status: 'RUNNING' } });
  expect(answers).toEqual([`send due ${iso(10)} 5`, `wake token-1 ${id}`]);
});

test('if the queue does not take the message, the machine does not end: the start fails and is retried', async () => {
  const { deps, answers } = world({
    post: async () => 'task-1',
    record: consentExtraction(),
    send: () => Promise.reject(new Error('throttled')),
  });
  expect(await startForMachine(input, deps)).toBeUndefined();
  expect(answers).toEqual(['fail token-1 StartFailed']);
});

test('after the start window the queue records NOT_STARTED', async () => {
  const { deps, answers } = world({ post: async () => 'task-1' });
  await startForMachine(input, { ...deps, now: () => at(900) });
  expect(answers).toEqual(['send start now 0', `wake token-1 ${id}`]);
});

test('after a refused start nothing is left, and the machine ends', async () => {
  const { deps, answers } = world({ post: () => Promise.reject(new ProviderRefused('400', 400)) });
  expect(await startForMachine(input, deps)).toMatchObject({ as: 'closed', record: { status: 'REJECTED' } });
  expect(answers).toEqual([`wake token-1 ${id}`]);
});

test('a start that can be retried fails the state with the error that the machine retries, and is counted', async () => {
  const { deps, answers, counted } = world({ post: () => Promise.reject(new ProviderBusy('429')) });
  expect(await startForMachine(input, deps)).toMatchObject({ as: 'not-yet', why: 'ProviderBusy' });
  expect(answers).toEqual(['fail token-1 ProviderBusy', 'http-429']);
  expect(counted).toEqual(['ProviderBusy']);
});

test('a used-up quota is counted, and is the cause of the failed state', async () => {
  const overQuota = Object.assign(new ProviderBusy('429'), { refusal: 'notEnoughCredits' });
  const { deps, answers, counted } = world({ post: () => Promise.reject(overQuota) });
  await startForMachine(input, deps);
  expect(answers).toEqual(['fail token-1 ProviderBusy', 'quota-reached']);
  expect(counted).toEqual(['ProviderBusy', 'QuotaReached']);
});

test.each<[string, Partial<StartForMachineDeps>, string]>([
  ['a breaker holds it', { breaker: breakerThat('held').breaker }, 'held/http-503'],
  [
    'no token is given',
    {
      callFor: async () => ({
        tokens: { current: () => Promise.reject(new ProviderRefused('403', 403)), drop: () => undefined },
        renewable: true,
        post: async () => 'task-1',
      }),
    },
    'login-http-403',
  ],
])(
  'after the start window the machine learns why nothing could be started now: %s',
  async (_, more, problem) => {
    const { deps, answers } = world({ post: () => Promise.reject(new Error('started')) });
    await startForMachine(input, { ...deps, ...more, now: () => at(900) });
    expect(answers).toEqual(['fail token-1 StartWindowOver', problem]);
  },
);

test('a start in progress is retried and not counted', async () => {
  const record = extractionIn('STARTING', { startingAt: iso(5) });
  const { deps, answers, counted } = world({ post: async () => 'task-1', record });
  await startForMachine(input, deps);
  expect(answers).toEqual(['fail token-1 StartInProgress']);
  expect(counted).toEqual([]);
});

test('a failure of a store is reported through the callback token', async () => {
  const { deps, answers, failures } = world({ post: async () => 'task-1' });
  deps.extractions.get = () => Promise.reject(new Error('the table is down'));
  expect(await startForMachine(input, deps)).toBeUndefined();
  expect(answers).toEqual(['fail token-1 StartFailed']);
  expect(failures).toEqual(['The start failed.']);
});

test('a failed SendTaskSuccess is reported as a failed start', async () => {
  const { deps, answers, failures } = world({
    post: () => Promise.reject(new ProviderRefused('400', 400)),
    wake: () => Promise.reject(new Error('throttled')),
  });
  expect(await startForMachine(input, deps)).toBeUndefined();
  expect(answers).toEqual(['fail token-1 StartFailed']);
  expect(failures).toEqual(['The start call failed.', 'The start failed.']);
});

test('an error is thrown only if the machine cannot receive a report', async () => {
  const throttled = new Error('throttled');
  const { deps } = world({
    post: () => Promise.reject(new ProviderBusy('429')),
    fail: () => Promise.reject(throttled),
  });
  await expect(startForMachine(input, deps)).rejects.toBe(throttled);
});
