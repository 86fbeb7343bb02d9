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
} from '../../../../support/data/extraction-fixtures.ts';
import { extractionInMemory } from '../../../../support/stores/extraction-in-memory.ts';
import { breakerThat, closedCircuit } from '../../../../support/stores/memory-breaker-store.ts';

const input = {
  extractionId: id,
  requestId: 'request-1',
  callbackToken: 'token-1',
  callbackAttempt: 0,
};

/** Starts `record` by a call that brings this. */
const world = (
  brings: 'task-1' | Error = 'task-1',
  record: Extraction = extraction(),
  more: Partial<StartForMachineDeps> = {},
) => {
  const { deps: stores, seen } = extractionInMemory(record);
  const answers: string[] = [];
  const deps: StartForMachineDeps = {
    ...stores,
    callFor: async () => ({
      tokens: { current: async () => 'session', drop: () => undefined },
      renewable: true,
      post: async () => {
        if (brings instanceof Error) throw brings;
        return brings;
      },
    }),
    breaker: closedCircuit,
    whenSlow: () => () => undefined,
    logIn: async () => undefined,
    newAttemptId: () => 'attempt-1',
    send: async ({ cause, dueAt = 'now' }, delaySeconds) =>
      void answers.push(`send ${cause} ${dueAt} ${delaySeconds}`),
    wake: async (token, extractionId) => {
      answers.push(`wake ${token} ${extractionId}`);
      return 'woken';
    },
    fail: async (token, error, cause) =>
      void answers.push(`fail ${token} ${error}`, ...(cause.includes(' ') ? [] : [cause])),
    ...more,
  };
  return { ...seen, start: () => startForMachine(input, deps), answers };
};

test('for a task with webhook the machine waits', async () => {
  const { start, answers } = world();
  expect(await start()).toMatchObject({ as: 'waiting' });
  expect(answers).toEqual([]);
});

test('a task without webhook is polled by the queue, and only then the machine ends', async () => {
  const { start, answers } = world('task-1', consentExtraction());
  expect(await start()).toMatchObject({ as: 'queued', record: { status: 'RUNNING' } });
  expect(answers).toEqual([`send due ${iso(10)} 5`, `wake token-1 ${id}`]);
});

test('if the queue does not take the message, the machine does not end: the start fails and is retried', async () => {
  const { start, answers } = world('task-1', consentExtraction(), {
    send: () => Promise.reject(new Error('throttled')),
  });
  expect(await start()).toBeUndefined();
  expect(answers).toEqual(['fail token-1 StartFailed']);
});

test('after the start window the queue records NOT_STARTED', async () => {
  const { start, answers } = world('task-1', extraction(), { now: () => at(900) });
  await start();
  expect(answers).toEqual(['send start now 0', `wake token-1 ${id}`]);
});

test('after a refused start nothing is left, and the machine ends', async () => {
  const { start, answers } = world(new ProviderRefused('400', 400));
  expect(await start()).toMatchObject({ as: 'closed', record: { status: 'REJECTED' } });
  expect(answers).toEqual([`wake token-1 ${id}`]);
});

const overQuota = Object.assign(new ProviderBusy('429'), { refusal: 'notEnoughCredits' });

test.each<[Error, string, readonly string[]]>([
  [new ProviderBusy('429'), 'http-429', ['ProviderBusy']],
  [overQuota, 'quota-reached', ['ProviderBusy', 'QuotaReached']],
])(
  'a start that can be retried fails the state with the error that the machine retries, and is counted: %s',
  async (failure, problem, metrics) => {
    const { start, answers, counted } = world(failure);
    expect(await start()).toMatchObject({ as: 'not-yet', why: 'ProviderBusy' });
    expect(answers).toEqual(['fail token-1 ProviderBusy', problem]);
    expect(counted).toEqual(metrics);
  },
);

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
    const { start, answers } = world(new Error('started'), extraction(), { ...more, now: () => at(900) });
    await start();
    expect(answers).toEqual(['fail token-1 StartWindowOver', problem]);
  },
);

test('a start in progress is retried and not counted', async () => {
  const { start, answers, counted } = world('task-1', extractionIn('STARTING'));
  await start();
  expect([answers, counted]).toEqual([['fail token-1 StartInProgress'], []]);
});

test('a failure of a store is reported through the callback token', async () => {
  const { start, extractions, answers, failures } = world();
  extractions.get = () => Promise.reject(new Error('the table is down'));
  expect(await start()).toBeUndefined();
  expect(answers).toEqual(['fail token-1 StartFailed']);
  expect(failures).toEqual(['The start failed.']);
});

test('a failed SendTaskSuccess is reported as a failed start', async () => {
  const { start, answers, failures } = world(new ProviderRefused('400', 400), extraction(), {
    wake: () => Promise.reject(new Error('throttled')),
  });
  expect(await start()).toBeUndefined();
  expect(answers).toEqual(['fail token-1 StartFailed']);
  expect(failures).toEqual(['The start call failed.', 'The start failed.']);
});

test('an error is thrown only if the machine cannot receive a report', async () => {
  const throttled = new Error('throttled');
  const { start } = world(new ProviderBusy('429'), extraction(), { fail: () => Promise.reject(throttled) });
  await expect(start()).rejects.toBe(throttled);
});
