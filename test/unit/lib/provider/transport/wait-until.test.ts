import { describe, expect, test } from 'vitest';
import {
  type Connection,
  cacheSessionTokens,
  ProviderBusy,
  UnexpectedTaskResults,
  type WaitOptions,
  WaitTimedOut,
  waitForExtractionV2,
  waitForLegacyTask,
  waitForTask,
} from '#lib/provider/index.ts';
import { answering } from '../../../../support/data/canned-connection.ts';

test('a wait polls a task at once, and then with growing pauses until it has ended', async () => {
  const statuses = ['PENDING', 'RUNNING', 'RUNNING', 'RUNNING', 'CREDENTIALS_WRONG'];
  const connection: Connection = {
    baseUrl: 'https://provider.example',
    fetch: async () => Response.json({ taskStatus: statuses.shift(), results: null }),
    totalTimeoutMs: 20_000,
    maxAnswerBytes: 65_536,
  };
  const now = () => new Date();
  const sessions = cacheSessionTokens({ logIn: async () => 'session', lifetimeMs: 3_600_000, now });
  const pauses: number[] = [];
  const sleep = async (ms: number) => void pauses.push(ms);
  const options = { firstDelayMs: 1_000, maxDelayMs: 2_000, deadlineMs: 60_000, sleep };
  expect(await waitForTask(connection, sessions, 'task-1', options)).toMatchObject({
    taskStatus: 'CREDENTIALS_WRONG',
  });
  expect(pauses).toEqual([1_000, 1_500, 2_000, 2_000]);
});

type Canned = { readonly status?: number; readonly body?: string };

/** A clock that only sleeping moves. */
const sleeping = () => {
  let time = Date.parse('2026-01-01T00:00:00Z');
  const pauses: number[] = [];
  const options: WaitOptions = {
    now: () => new Date(time),
    sleep: async (ms) => {
      pauses.push(ms);
      time += ms;
    },
  };
  return { pauses, options };
};

/** Answers these one after the other, and the last of them for ever. */
const inTurn = (...answers: readonly Canned[]) => {
  let polls = 0;
  return answering(() => {
    const answer = answers[Math.min(polls, answers.length - 1)] ?? {};
    polls += 1;
    return answer;
  });
};

/** A provider that never answers. `begun` is called with each call. */
const unanswered = (begun = () => {}): Connection => ({
  ...answering(() => ({})).connection,
  totalTimeoutMs: 3_600_000,
  fetch: (_url, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
      begun();
    }),
});

let logins = 0;
const sessions = cacheSessionTokens({
  logIn: async () => {
    logins += 1;
    return `st-${logins}`;
  },
  lifetimeMs: 3_600_000,
  now: () => new Date(),
});

const task = (taskStatus: string, results: unknown = null): Canned => ({
  body: JSON.stringify({ taskStatus, results }),
});
const full = { username: 'u', entityId: 'e', actions: [] };
const running = task('RUNNING');
const completed = task('COMPLETED', full);
const waiting = (connection: Connection, options?: WaitOptions) =>
  waitForTask(connection, sessions, 'task-1', options);

describe('a wait for a v2 task', () => {
  test.each([429, 503])('takes %i for a poll that did not happen', async (status) => {
    const { connection, calls } = inTurn({ status }, { status }, completed);
    expect(await waiting(connection, sleeping().options)).toMatchObject({ taskStatus: 'COMPLETED' });
    expect(calls).toHaveLength(3);
  });

  test('ends when the task has, even if its results are of another form', async () => {
    const { connection } = inTurn(running, task('COMPLETED', { pages: [] }));
    const failure = waiting(connection, sleeping().options);
    await expect(failure).rejects.toThrow(UnexpectedTaskResults);
    await expect(failure).rejects.toMatchObject({ taskStatus: 'COMPLETED' });
  });

  test('outlasts its session', async () => {
    const { connection, calls } = inTurn(running, { status: 401 }, completed);
    expect(await waiting(connection, sleeping().options)).toMatchObject({ taskStatus: 'COMPLETED' });
    const [, refused, last] = calls.map(({ headers }) => headers.authorization);
    expect(last).not.toBe(refused);
  });

  test('ends at its deadline, no later, with what the last poll ran into', async () => {
    const { pauses, options } = sleeping();
    const { connection } = inTurn(running, { status: 429 });
    const failure = waiting(connection, { ...options, deadlineMs: 10_000 });
    await expect(failure).rejects.toThrow(WaitTimedOut);
    await expect(failure).rejects.toMatchObject({ cause: expect.any(ProviderBusy) });
    expect(pauses.reduce((sum, pause) => sum + pause, 0)).toBe(10_000);
  });

  test('has no cause if its last poll works', async () => {
    const { connection } = inTurn({ status: 429 }, running);
    const failure = waiting(connection, { ...sleeping().options, deadlineMs: 10_000 });
    await expect(failure).rejects.toThrow(WaitTimedOut);
    await expect(failure).rejects.not.toHaveProperty('cause');
  });

  test('gives its last poll no more time than is left', async () => {
    await expect(waiting(unanswered(), { deadlineMs: 40 })).rejects.toThrow(WaitTimedOut);
  });

  test('that is called off before it begins polls nothing', async () => {
    const { connection, calls } = inTurn(completed);
    const signal = AbortSignal.abort(new Error('called off'));
    await expect(waiting(connection, { signal })).rejects.toThrow('called off');
    expect(calls).toHaveLength(0);
  });

  test('that is called off in a pause ends at once, with the reason', async () => {
    const off = new AbortController();
    const { connection, calls } = answering(() => {
      queueMicrotask(() => setImmediate(() => off.abort(new Error('called off'))));
      return running;
    });
    const options = { signal: off.signal, firstDelayMs: 60_000, maxDelayMs: 60_000 };
    await expect(waiting(connection, options)).rejects.toThrow('called off');
    expect(calls).toHaveLength(1);
  });

  test('that is called off in a poll ends at once, with the reason', async () => {
    const off = new AbortController();
    const connection = unanswered(() => setImmediate(() => off.abort(new Error('called off'))));
    await expect(waiting(connection, { signal: off.signal })).rejects.toThrow('called off');
  });
});

describe('the other waits', () => {
  test('for one of the v2 variant that failed, with its error, and not with that of a poll', async () => {
    const { connection } = inTurn(
      { status: 202 },
      ...[408, 425, 429, 500, 503].map((status) => ({ status, body: '{"errorType":"E"}' })),
      { status: 422, body: '{"errorType":"E","errorCode":"C"}' },
    );
    await expect(waitForExtractionV2(connection, 'tt', 't', sleeping().options)).rejects.toMatchObject({
      name: 'ProviderExtractionFailed',
      status: 422,
      errorType: 'E',
      errorCode: 'C',
    });
  });

  test('for a legacy task, until it is over: an error of the task is a value', async () => {
    const over = { taskStatus: 'error', taskStatusCode: 500, results: {} };
    const { connection, calls } = inTurn(
      { status: 202, body: '{"taskStatus":"queued","taskStatusCode":0}' },
      { body: '{"taskStatus":"pending","taskStatusCode":200}' },
      { body: '{"taskStatus":"queued","taskStatusCode":202}' },
      { body: JSON.stringify(over) },
    );
    expect(await waitForLegacyTask(connection, sessions, 't', sleeping().options)).toEqual({
      kind: 'finished',
      ...over,
    });
    expect(calls).toHaveLength(4);
  });
});
