import { expect, test } from 'vitest';
import type { Extraction } from '../../../../lib/extraction/record.ts';
import { type StartForMachineDeps, startForMachine } from '../../../../lib/extraction/start-for-machine.ts';
import { ProviderBusy, ProviderRefused } from '../../../../lib/provider/transport/errors.ts';
import {
  at,
  consentExtraction,
  extraction,
  id,
  observations,
  timings,
} from '../../../support/extraction-fixtures.ts';
import { memoryExtractionStore } from '../../../support/memory-extraction-store.ts';
import { memoryTaskStore } from '../../../support/memory-task-store.ts';

const input = { extractionId: id, requestId: 'request-1', callbackToken: 'token-1', callbackAttempt: 0 };

const world = (setup: {
  readonly post: () => Promise<string>;
  readonly row?: Extraction;
  readonly wake?: StartForMachineDeps['wake'];
  readonly fail?: StartForMachineDeps['fail'];
}) => {
  const extractions = memoryExtractionStore();
  extractions.rows.set(id, setup.row ?? extraction());
  const told: string[] = [];
  const deps: StartForMachineDeps = {
    extractions,
    tasks: memoryTaskStore(),
    callFor: async () => ({
      tokens: { current: async () => 'session', drop: () => undefined },
      renewable: true,
      post: setup.post,
    }),
    newAttemptId: () => 'attempt-1',
    now: () => at(5),
    timings,
    count: observations().count,
    wake: async (token, extractionId) => {
      told.push(`wake ${token} ${extractionId}`);
      return 'woken';
    },
    fail: async (token, error) => void told.push(`fail ${token} ${error}`),
    onAccepted: () => undefined,
    onFailure: () => undefined,
    onFinished: ({ kind }) => void told.push(kind),
    onError: () => void told.push('broken'),
    ...(setup.wake === undefined ? {} : { wake: setup.wake }),
    ...(setup.fail === undefined ? {} : { fail: setup.fail }),
  };
  return { deps, told };
};

test('a task that a webhook will tell of is waited for in silence', async () => {
  const { deps, told } = world({ post: async () => 'task-1' });
  await startForMachine(input, deps);
  expect(told).toEqual(['waiting']);
});

test('a task that no webhook tells of sends the machine on to its polls', async () => {
  const { deps, told } = world({ post: async () => 'task-1', row: consentExtraction() });
  await startForMachine(input, deps);
  expect(told).toEqual(['polling', `wake token-1 ${id}`]);
});

test('a refusal is nothing to wait for', async () => {
  const { deps, told } = world({ post: () => Promise.reject(new ProviderRefused('400', 400)) });
  await startForMachine(input, deps);
  expect(told).toEqual(['settled', `wake token-1 ${id}`]);
});

test('a start that may be tried again fails the state under the name that is retried', async () => {
  const { deps, told } = world({ post: () => Promise.reject(new ProviderBusy('429')) });
  await startForMachine(input, deps);
  expect(told).toEqual(['retry', 'fail token-1 ProviderBusy']);
});

test('a failure of ours is told through the token', async () => {
  const { deps, told } = world({ post: async () => 'task-1' });
  deps.extractions.get = () => Promise.reject(new Error('the table is down'));
  await startForMachine(input, deps);
  expect(told).toEqual(['broken', 'fail token-1 StartFailed']);
});

test('a wake-up that fails is told as a start that broke off', async () => {
  const { deps, told } = world({
    post: () => Promise.reject(new ProviderRefused('400', 400)),
    wake: () => Promise.reject(new Error('throttled')),
  });
  await startForMachine(input, deps);
  expect(told).toEqual(['settled', 'broken', 'fail token-1 StartFailed']);
});

test('only where even that cannot be told is it thrown', async () => {
  const throttled = new Error('throttled');
  const { deps } = world({
    post: () => Promise.reject(new ProviderBusy('429')),
    fail: () => Promise.reject(throttled),
  });
  await expect(startForMachine(input, deps)).rejects.toBe(throttled);
});
