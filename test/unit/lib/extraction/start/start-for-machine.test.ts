import { expect, test } from 'vitest';
import type { Extraction } from '#lib/extraction/record.ts';
import { type StartForMachineDeps, startForMachine } from '#lib/extraction/start/start.ts';
import {
  ProviderBusy,
  ProviderRefused,
  ProviderUnauthorized,
  ProviderUnreachable,
} from '#lib/provider/transport/errors.ts';
import {
  at,
  consentExtraction,
  extraction,
  extractionIn,
  id,
  iso,
} from '../../../../support/data/extraction-fixtures.ts';
import { extractionInMemory, startDeps } from '../../../../support/stores/extraction-in-memory.ts';
import { breakerThat } from '../../../../support/stores/memory-breaker-store.ts';
import { memoryRequestStore } from '../../../../support/stores/memory-request-store.ts';
import { openLine } from '../../../../support/stores/memory-start-line.ts';

const input = {
  extractionId: id,
  requestId: 'request-1',
  callbackToken: 'token-1',
  callbackAttempt: 0,
  entry: 0,
  isReleased: false,
};

type Setup = Partial<StartForMachineDeps> & { record?: Extraction; brings?: 'task-1' | Error };

/** Starts `record` by a call that brings this. */
const world = ({ record = extraction(), brings = 'task-1', ...more }: Setup = {}) => {
  const { deps: stores, seen } = extractionInMemory(record);
  const answers: string[] = [];
  const deps: StartForMachineDeps = {
    ...startDeps,
    ...stores,
    callFor: async () => ({
      tokens: { current: async () => 'session', drop: () => undefined },
      renewable: true,
      post: async () => {
        if (brings instanceof Error) throw brings;
        return brings;
      },
    }),
    send: async ({ cause, dueAt = 'now' }, _caller, delaySeconds) =>
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

const failing = () => Promise.reject(new Error('throttled'));
const rejected = new ProviderRefused('400', 400);
const userBusy = Object.assign(new ProviderBusy('429'), { refusal: 'processAlreadyRunning' });
const overQuota = Object.assign(new ProviderBusy('429'), { refusal: 'notEnoughCredits' });
const withoutWebhook = { record: consentExtraction() };
const late = { now: () => at(900) };
const [poll, woken, failed] = [`send due ${iso(10)} 5`, `wake token-1 ${id}`, 'fail token-1 StartFailed'];

test.each<readonly [string, Setup, string | undefined, readonly string[]]>([
  ['waits for a task with webhook', {}, 'awaits-webhook', []],
  ['ends only after the queue polls a task without webhook', withoutWebhook, 'queued', [poll, woken]],
  ['retries if the queue takes no message', { ...withoutWebhook, send: failing }, undefined, [failed]],
  ['reconciles after the start window', late, 'not-yet', ['fail token-1 StartWindowOver']],
  ['ends after a refused start', { brings: rejected }, 'closed', [woken]],
  ['retries after a failed SendTaskSuccess', { brings: rejected, wake: failing }, undefined, [failed]],
])('the machine %s', async (_what, setup, conclusion, expected) => {
  const { start, answers } = world(setup);
  expect((await start())?.conclusion).toBe(conclusion);
  expect(answers).toEqual(expected);
});

const withoutItems = { ...memoryRequestStore(), get: async () => undefined };

const held = { breaker: breakerThat('held').breaker, startLine: openLine() };
const unreachable = new ProviderUnreachable('no', { cause: new Error('ECONNREFUSED') });
const unauthorized = new ProviderUnauthorized('401');

test.each<[string, Setup, string, string[], string[]?]>([
  ['429', { brings: userBusy }, 'ProviderBusy', ['user-busy']],
  ['over quota', { brings: overQuota }, 'ProviderBusy', ['quota-reached'], ['QuotaReached', 'ProviderBusy']],
  [
    'over quota at an earlier try',
    { record: extraction({ notBefore: iso(2_000), lastProblem: 'quota-reached' }) },
    'ProviderBusy',
    ['quota-reached'],
  ],
  ['no connection', { brings: unreachable }, 'ProviderUnreachable', ['unreachable']],
  ['401', { brings: unauthorized }, 'ProviderUnauthorized', ['http-401']],
  ['no sealed data', { requests: withoutItems }, 'RequestDataGone', ['request-data-gone']],
  ['a start in progress', { record: extractionIn('STARTING') }, 'StartInProgress', [], []],
  ['a breaker, for which it waits in line', held, 'Waits', ['held/http-503'], []],
])(
  'a start that can be retried fails the state with the error that the machine retries: %s',
  async (_what, setup, error, problem, metrics = [error]) => {
    const { start, answers, counted } = world(setup);
    expect(await start()).toMatchObject({ conclusion: 'not-yet', error });
    expect(answers).toEqual([`fail token-1 ${error}`, ...problem]);
    expect(counted).toEqual(metrics);
  },
);

const noToken = async () => ({
  tokens: { current: () => Promise.reject(new ProviderRefused('403', 403)), drop: () => undefined },
  renewable: true,
  post: async () => 'task-1',
});

test.each<[string, Setup, string]>([
  ['a breaker holds it', { breaker: breakerThat('held').breaker }, 'held/http-503'],
  ['no token is given', { callFor: noToken }, 'login-http-403'],
])(
  'after the start window the machine learns why nothing could be started now: %s',
  async (_, setup, problem) => {
    const { start, answers } = world({ ...setup, ...late, brings: new Error('started') });
    await start();
    expect(answers).toEqual(['fail token-1 StartWindowOver', problem]);
  },
);

test('a failure of a store is reported through the callback token', async () => {
  const { start, extractions, answers, failures } = world();
  extractions.get = failing;
  expect(await start()).toBeUndefined();
  expect(answers).toEqual([failed]);
  expect(failures).toEqual(['The start failed.']);
});

test('an error is thrown only if the machine cannot receive a report', async () => {
  const { start } = world({ brings: rejected, wake: failing, fail: failing });
  await expect(start()).rejects.toThrow('throttled');
});
