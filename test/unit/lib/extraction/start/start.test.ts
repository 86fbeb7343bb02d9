import { describe, expect, test } from 'vitest';
import type { CircuitBreaker } from '../../../../../lib/breaker/circuit-breaker.ts';
import { loginProblemOf } from '../../../../../lib/extraction/advice.ts';
import type { Extraction } from '../../../../../lib/extraction/record.ts';
import { credentialsMac, knownCredentials } from '../../../../../lib/extraction/refused-credentials.ts';
import type { SealedCredentialsData } from '../../../../../lib/extraction/sealed-request-data.ts';
import { type StartDeps, start } from '../../../../../lib/extraction/start/start.ts';
import { callByCredentials } from '../../../../../lib/extraction/start/start-call.ts';
import type { ExtractionStore } from '../../../../../lib/extraction/store.ts';
import { NotConfigured } from '../../../../../lib/not-configured.ts';
import type { TaskRequest } from '../../../../../lib/provider/tasks/check-task-request.ts';
import type { SessionTokens } from '../../../../../lib/provider/tokens/session-tokens.ts';
import {
  ProviderAmbiguous,
  ProviderAnswerTooLarge,
  ProviderBusy,
  ProviderRefused,
  ProviderUnauthorized,
  ProviderUnreachable,
} from '../../../../../lib/provider/transport/errors.ts';
import {
  clock,
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
import { memoryTaskStore, taskExpiry } from '../../../../support/stores/memory-task-store.ts';
import type { StoreCall, StoreFaults } from '../../../../support/stores/store-fault.ts';

const busy = () => new ProviderBusy('429');
const unreachable = () => new ProviderUnreachable('refused');
const unauthorized = () => new ProviderUnauthorized('401');
const refused = (status: number) => new ProviderRefused(`${status}`, status);
const ambiguous = () => new ProviderAmbiguous('503');

const raw: SealedCredentialsData = { credentials: { mode: 'raw', value: { username: 'u', password: 'p' } } };
const withToken: SealedCredentialsData = {
  credentials: { mode: 'encrypted', value: 'a-b' },
  sessionToken: 'callers',
};

type Post = { readonly token: string; readonly request: TaskRequest };
/** What the provider answers to a start call: a taskId, or a failure. */
type Answer = string | Error;

const world = (
  setup: {
    readonly record?: Extraction | null;
    readonly plaintext?: SealedCredentialsData;
    /** One for each start call, in order; the last one stays. */
    readonly answers?: readonly Answer[];
    readonly faults?: StoreFaults;
    readonly through?: (store: ExtractionStore) => ExtractionStore;
    readonly unseal?: () => Promise<SealedCredentialsData>;
    readonly logIn?: () => Promise<string>;
    readonly breaker?: CircuitBreaker;
    readonly whenSlow?: StartDeps['whenSlow'];
    /** What happens while a start call is under way. */
    readonly meanwhile?: () => void;
  } = {},
) => {
  const extractions = memoryExtractionStore(setup.faults);
  const tasks = memoryTaskStore(setup.faults);
  const marks = memoryMarks(setup.faults);
  const requests = memoryRequestStore(setup.faults, storedRequest(id));
  if (setup.record !== null) extractions.items.set(id, setup.record ?? extraction());
  const posts: Post[] = [];
  const events: string[] = [];
  const time = clock(5);
  const { counted, measured, progress, telemetry } = memoryTelemetry((message) => events.push(message));
  let logins = 0;
  let attempts = 0;
  let session: string | undefined;
  const logIn =
    setup.logIn ??
    (async () => {
      logins += 1;
      return `session-${logins}`;
    });

  const sessions: SessionTokens = {
    current: async () => {
      events.push('session');
      session ??= await logIn();
      return session;
    },
    drop: (token) => {
      if (session === token) session = undefined;
    },
    renew: async () => {
      events.push('login');
      session = await logIn();
      return session;
    },
  };
  const byCredentials = {
    sessions,
    startTask: async (token: string, request: TaskRequest) => {
      events.push(`post on ${extractions.items.get(id)?.status}`);
      posts.push({ token, request });
      setup.meanwhile?.();
      const answers = setup.answers ?? ['task-1'];
      const answer = answers[Math.min(posts.length, answers.length) - 1];
      if (typeof answer !== 'string') throw answer;
      return answer;
    },
  };
  const deps: StartDeps = {
    extractions: setup.through?.(extractions) ?? extractions,
    tasks,
    ...marks,
    requests,
    callFor: async (record) => {
      events.push('unseal');
      if (record.method !== 'credentials') throw new Error('It is not by credentials.');
      const unsealed = (await setup.unseal?.()) ?? setup.plaintext ?? raw;
      const known = await knownCredentials(record, unsealed, {
        key: async () => 'key',
        keptDays: marks.keptDays,
      });
      return { ...callByCredentials(record, unsealed, byCredentials), ...known };
    },
    breaker: setup.breaker ?? closedCircuit,
    logIn: sessions.renew,
    whenSlow: setup.whenSlow ?? (() => () => undefined),
    msLeft: () => 60_000,
    newAttemptId: () => {
      attempts += 1;
      return `attempt-${attempts}`;
    },
    now: time.now,
    timings,
    telemetry,
    send: async () => undefined,
  };
  const startAs = (callbackAttempt = 0, changed: Partial<typeof timings> = {}) =>
    start(
      {
        extractionId: id,
        requestId: 'request-1',
        callbackToken: `token-${callbackAttempt}`,
        callbackAttempt,
      },
      { ...deps, timings: { ...timings, ...changed } },
    );
  return {
    start: startAs,
    posts,
    events,
    counted,
    measured,
    progress,
    time,
    extractions,
    tasks,
    marks,
    requests,
    deps,
    logins: () => logins,
    record: () => extractions.items.get(id),
    task: () => tasks.items.get('task-1'),
  };
};

test('without webhooks, none is requested, and the queue polls the linked task from its start on', async () => {
  const { start, posts, record, task, requests } = world({ record: extraction({ withoutWebhook: true }) });
  expect(await start()).toMatchObject({ as: 'queued', record: { status: 'RUNNING', dueAt: iso(10) } });
  expect(posts[0]?.request).not.toHaveProperty('webhook');
  expect(record()).toMatchObject({ status: 'RUNNING', dueAt: iso(10) });
  expect(task()).toMatchObject({ extractionId: id });
  expect(requests.items.size).toBe(0);
});

test('credentials that a caller encrypted are not sent an hour after the request', async () => {
  const { start, posts, time, record, logins } = world({ plaintext: withToken });
  time.set(3_600);
  // Within the window of a stage that allows a day.
  const late = start(0, { startWindow: 86_400 });
  expect(await late).toMatchObject({ as: 'not-yet', why: 'CiphertextExpired' });
  expect(record()).toEqual(extraction());
  expect([posts, logins()]).toEqual([[], 0]);
});

describe('the item of the request', () => {
  test.each<readonly [string, Answer, number]>([
    ['a refusal', refused(400), 0],
    ['an unknown answer', ambiguous(), 0],
    ['a start that can be retried', busy(), 1],
  ])('after %s', async (_what, answer, items) => {
    const { start, requests } = world({ answers: [answer] });
    await start();
    expect(requests.items.size).toBe(items);
  });

  test('that could not be removed fails no start, is counted, and is removed by a later start-task', async () => {
    let fails = true;
    const before = ({ method }: StoreCall): void => {
      if (method === 'remove' && fails) throw new Error('throttled');
    };
    const { start, requests, counted } = world({ faults: { before } });
    expect(await start()).toMatchObject({ as: 'waiting' });
    expect(counted).toEqual(['RequestDataNotRemoved']);
    fails = false;
    await start(1);
    expect(requests.items.size).toBe(0);
  });

  test('that is lost, or is that of another extraction, starts nothing and is retried', async () => {
    const { start, requests, record, posts } = world();
    requests.items.set('request-1', storedRequest('another'));
    expect(await start()).toMatchObject({
      as: 'not-yet',
      why: 'RequestDataGone',
      problem: 'request-data-gone',
    });
    expect(record()).toEqual(extraction());
    expect(posts).toEqual([]);
  });

  test('that another start-task has used is not missed', async () => {
    const { start, requests, extractions } = world();
    requests.items.clear();
    const get = extractions.get;
    let reads = 0;
    extractions.get = (of) => {
      reads += 1;
      if (reads === 2) extractions.items.set(id, extractionIn('STARTING', { startingAt: iso(5) }));
      return get(of);
    };
    expect(await start()).toMatchObject({ as: 'not-yet', why: 'StartInProgress' });
  });
});

describe('a successful start', () => {
  test('ends with the record RUNNING and the callback token stored, after one start call', async () => {
    const { start, record, task, posts, counted, measured, progress } = world();
    expect(await start()).toMatchObject({ as: 'waiting' });
    expect(record()).toMatchObject({
      status: 'RUNNING',
      attemptId: 'attempt-1',
      taskId: 'task-1',
      startingAt: iso(5),
      startedAt: iso(5),
    });
    expect(task()).toEqual({
      taskId: 'task-1',
      extractionId: id,
      callbackToken: 'token-0',
      callbackAttempt: 0,
      credentialsMac: expect.any(String),
      expiresAt: taskExpiry,
    });
    expect(posts).toHaveLength(1);
    expect(counted).toEqual([]);
    expect(measured).toEqual([['SecondsToStart', 5]]);
    expect(progress).toEqual([['Extraction started.', { extractionId: id, entity: 'bank', seconds: 5 }]]);
  });

  test('sends the recorded request with the unsealed credentials and five deliveries', async () => {
    const actions = [
      { id: 'movement', params: { dateRange: { startDate: '2026-01-01', endDate: '2026-01-31' } } },
    ];
    const { start, posts } = world({ record: extraction({ entity: 'other', actions }) });
    await start();
    expect(posts[0]).toEqual({
      token: 'session-1',
      request: {
        entity: 'other',
        credentials: raw.credentials,
        actions,
        webhook: { enable: true, retries: 5 },
      },
    });
  });

  test('does every harmless step before the STARTING write, and the start call after it', async () => {
    const { start, events } = world();
    await start();
    expect(events).toEqual(['unseal', 'session', 'post on STARTING', 'The provider accepted the task.']);
  });

  test('uses the caller’s session token, without a login', async () => {
    const { start, posts, logins } = world({ plaintext: withToken });
    await start();
    expect(posts[0]).toMatchObject({ token: 'callers', request: { credentials: withToken.credentials } });
    expect(logins()).toBe(0);
  });
});

describe('a failure before the STARTING write leaves the record unchanged', () => {
  test.each<readonly [string, () => Error, string]>([
    ['the API key is refused', unauthorized, 'ProviderUnauthorized'],
    [
      'the API key is not stored yet',
      () => new NotConfigured('secret', 'provider-api-key'),
      'ProviderUnauthorized',
    ],
    ['the login is refused', () => refused(403), 'ProviderUnauthorized'],
    ['the provider is busy', busy, 'ProviderBusy'],
    ['the provider cannot be reached', unreachable, 'ProviderUnreachable'],
    [
      'the login is not answered: it changes nothing, so it may be tried again',
      ambiguous,
      'ProviderUnreachable',
    ],
    [
      'the login is answered with too much',
      () => new ProviderAnswerTooLarge('x', 200),
      'ProviderUnreachable',
    ],
  ])('%s', async (_what, failure, error) => {
    const { start, record, posts } = world({
      logIn: async () => {
        throw failure();
      },
    });
    expect(await start()).toMatchObject({ as: 'not-yet', why: error, problem: loginProblemOf(failure()) });
    expect(record()).toEqual(extraction());
    expect(posts).toHaveLength(0);
  });

  test('that is not the provider’s is thrown', async () => {
    const failing = async () => {
      throw new Error('own failure');
    };
    for (const setup of [{ unseal: failing }, { logIn: failing }]) {
      const { start, record, posts } = world(setup);
      await expect(start()).rejects.toThrow('own failure');
      expect(record()).toEqual(extraction());
      expect(posts).toHaveLength(0);
    }
  });
});

describe('a start that was certainly not accepted goes back to REQUESTED, and the machine retries', () => {
  const overQuota = () => Object.assign(busy(), { refusal: 'notEnoughCredits' });

  test.each<readonly [string, () => Error, string, string]>([
    ['429', busy, 'ProviderBusy', 'http-429'],
    ['429 as the quota is used up', overQuota, 'ProviderBusy', 'quota-reached'],
    ['it cannot be reached', unreachable, 'ProviderUnreachable', 'unreachable'],
  ])('%s', async (_what, failure, error, problem) => {
    const { start, record, posts } = world({ answers: [failure()] });
    expect(await start()).toMatchObject({ as: 'not-yet', why: error, problem });
    expect(record()).toEqual(extraction({ attemptId: 'attempt-1', lastProblem: problem }));
    expect(posts).toHaveLength(1);
  });
});

describe('a refused start ends as REJECTED', () => {
  test.each([400, 402, 403, 404, 409, 422])('%i', async (status) => {
    const { start, record, posts, counted, progress } = world({ answers: [refused(status)] });
    expect(await start()).toMatchObject({ as: 'closed', record: { status: 'REJECTED' } });
    expect(record()).toMatchObject({
      status: 'REJECTED',
      reason: `http-${status}`,
      settledAt: iso(5),
      settledBy: 'start',
    });
    expect(record()).not.toHaveProperty('dueShard');
    expect(posts).toHaveLength(1);
    expect(counted).toEqual(['Rejected']);
    expect(progress).toMatchObject([['Extraction ended.', { status: 'REJECTED', reason: `http-${status}` }]]);
  });
});

describe('401 on the start call', () => {
  test('drops the token, logs in once, and makes the call once more', async () => {
    const { start, posts, record, logins } = world({ answers: [unauthorized(), 'task-1'] });
    expect(await start()).toMatchObject({ as: 'waiting' });
    expect(posts.map(({ token }) => token)).toEqual(['session-1', 'session-2']);
    expect(logins()).toBe(2);
    expect(record()).toMatchObject({ status: 'RUNNING', attemptId: 'attempt-1' });
  });

  test('twice means not accepted, and the second token is dropped too', async () => {
    const { start, posts, record } = world({ answers: [unauthorized(), unauthorized(), 'task-1'] });
    expect(await start(0)).toMatchObject({ as: 'not-yet', why: 'ProviderUnauthorized', problem: 'http-401' });
    expect(record()).toEqual(extraction({ attemptId: 'attempt-1', lastProblem: 'http-401' }));
    await start(1);
    expect(posts.map(({ token }) => token)).toEqual(['session-1', 'session-2', 'session-3']);
  });

  test.each<readonly [string, Error, object, string]>([
    ['429', busy(), { as: 'not-yet', why: 'ProviderBusy' }, 'REQUESTED'],
    ['400', refused(400), { as: 'closed', record: { status: 'REJECTED' } }, 'REJECTED'],
    ['silence', ambiguous(), { as: 'closed', record: { status: 'UNCONFIRMED' } }, 'UNCONFIRMED'],
  ])('and then %s: the second answer decides', async (_what, second, outcome, status) => {
    const { start, record } = world({ answers: [unauthorized(), second] });
    expect(await start()).toMatchObject(outcome);
    expect(record()?.status).toBe(status);
  });

  test('and then any failed login means not accepted, because of the 401', async () => {
    for (const failure of [unauthorized(), ambiguous(), new Error('own failure')]) {
      let logins = 0;
      const { start, record, posts } = world({
        answers: [unauthorized()],
        logIn: async () => {
          logins += 1;
          if (logins > 1) throw failure;
          return 'session-1';
        },
      });
      const problem = loginProblemOf(failure);
      expect(await start()).toMatchObject({ as: 'not-yet', why: 'ProviderUnauthorized', problem });
      expect(record()).toEqual(extraction({ attemptId: 'attempt-1', lastProblem: problem }));
      expect(posts).toHaveLength(1);
    }
  });

  test('with the caller’s own token is REJECTED, because no login can help', async () => {
    const { start, record, posts, logins } = world({ plaintext: withToken, answers: [unauthorized()] });
    expect(await start()).toMatchObject({ as: 'closed', record: { status: 'REJECTED' } });
    expect(record()).toMatchObject({ status: 'REJECTED', reason: 'session-token-refused' });
    expect(posts).toHaveLength(1);
    expect(logins()).toBe(0);
  });
});

describe('any other failure means that a task may exist, and the start call is never repeated', () => {
  test.each<readonly [string, Error]>([
    ['5xx, 408, 3xx, a timeout, a reset, a 2xx without a taskId', ambiguous()],
    ['an answer that is too large', new ProviderAnswerTooLarge('x', 200)],
    ['an unexpected exception', new RangeError('bug')],
  ])('%s', async (_what, failure) => {
    const { start, record, posts, counted, progress, time } = world({ answers: [failure] });
    expect(await start(0)).toMatchObject({ as: 'closed', record: { status: 'UNCONFIRMED' } });
    expect(record()).toMatchObject({ status: 'UNCONFIRMED', settledBy: 'start', settledAt: iso(5) });
    expect(record()).not.toHaveProperty('dueShard');
    expect(counted).toEqual(['Unconfirmed']);
    expect(progress).toMatchObject([['Extraction ended.', { status: 'UNCONFIRMED', seconds: 5 }]]);
    time.advance(1_000);
    expect(await start(1)).toMatchObject({ as: 'closed', record: { status: 'UNCONFIRMED' } });
    expect(posts).toHaveLength(1);
  });
});

describe('an invocation that finds a start made or in progress', () => {
  test('leaves a start in progress alone', async () => {
    const record = extractionIn('STARTING', { startingAt: iso(1) });
    const { start, record: recordNow, posts, events } = world({ record });
    expect(await start(1)).toMatchObject({ as: 'not-yet', why: 'StartInProgress' });
    expect(recordNow()).toEqual(record);
    expect(posts).toHaveLength(0);
    expect(events).toEqual([]);
  });

  test('settles a stale start as UNCONFIRMED', async () => {
    const { start, record, posts, time, counted } = world({
      record: extractionIn('STARTING', { startingAt: iso(1) }),
    });
    time.set(62);
    expect(await start(1)).toMatchObject({ as: 'closed', record: { status: 'UNCONFIRMED' } });
    expect(record()).toMatchObject({
      status: 'UNCONFIRMED',
      reason: 'start-interrupted',
      settledAt: iso(62),
    });
    expect(posts).toHaveLength(0);
    expect(counted).toEqual(['Unconfirmed']);
  });

  test('links a task that reconcile has adopted, and settles with the status that a webhook left', async () => {
    const adopted = { taskId: 'task-1', extractionId: id };
    const quiet = world({ record: extractionIn('RUNNING') });
    quiet.tasks.items.set('task-1', adopted);
    expect(await quiet.start(0)).toMatchObject({ as: 'waiting' });
    expect(quiet.task()).toEqual({
      ...adopted,
      callbackToken: 'token-0',
      callbackAttempt: 0,
      credentialsMac: expect.any(String),
      expiresAt: taskExpiry,
    });

    const held = world({ record: extractionIn('RUNNING') });
    held.tasks.items.set('task-1', { ...adopted, taskStatus: 'FAILED' });
    const record = { status: 'FAILED', settledBy: 'start' };
    expect(await held.start(0)).toMatchObject({ as: 'queued', record });
    expect(held.counted).toEqual(['SettledByStart', 'EarlyDelivery']);
  });

  test('leaves a record that is REQUESTED again to the next retry', async () => {
    const { start, posts } = world({
      through: (store) => ({ ...store, apply: async () => ({ applied: false, record: extraction() }) }),
    });
    expect(await start()).toMatchObject({ as: 'not-yet', why: 'StartInProgress' });
    expect(posts).toHaveLength(0);
  });

  test.each(['COMPLETED', 'FAILED', 'REJECTED', 'UNCONFIRMED', 'NOT_STARTED', 'TIMED_OUT'] as const)(
    '%s: there is nothing to wait for, and the queue gets what is open',
    async (status) => {
      const record = extractionIn(status);
      const { start, record: recordNow, posts } = world({ record });
      const as = record.dueShard === undefined ? 'closed' : 'queued';
      expect(await start(3)).toMatchObject({ as, record: { status } });
      expect(recordNow()).toEqual(record);
      expect(posts).toHaveLength(0);
    },
  );

  test('has nothing to wait for without a record', async () => {
    const { start, posts } = world({ record: null });
    expect(await start()).toMatchObject({ as: 'gone' });
    expect(posts).toHaveLength(0);
  });
});

describe('from the STARTING write on, a failed write is retried', () => {
  /** Fails so many writes, but for the first few. */
  const failing = (times: number, when: 'before' | 'after', butFor = 1) => {
    let writes = 0;
    return {
      [when]: ({ method }: StoreCall) => {
        if (method === 'apply') writes += 1;
        if (method === 'apply' && writes > butFor && writes <= butFor + times) throw new Error('throttled');
      },
    };
  };

  test('but not more than twice', async () => {
    const { start, record } = world({ faults: failing(3, 'before') });
    await expect(start()).rejects.toThrow('throttled');
    expect(record()?.status).toBe('STARTING');
  });
});

describe('a later record under the same id, after an erasure or a loss', () => {
  test('does not wait because the provider was too busy for the earlier one', async () => {
    const later = extraction({ requestId: 'request-2' });
    const held = world({
      logIn: async () => {
        held.extractions.items.set(id, later);
        throw Object.assign(busy(), { retryAfter: { kind: 'delay', seconds: 600 } });
      },
    });
    await held.start();
    expect(held.record()).toEqual(later);
  });
});

describe('the breakers of starts', () => {
  const http = (status: number) => new ProviderAmbiguous(`${status}`, { status });
  const failed = (cause: string) => ({ kind: 'failed', cause });
  const nothing = { kind: 'nothing' };

  test('are not asked about an extraction that has started, and give no turn to one whose window is over', async () => {
    const asked: unknown[] = [];
    const breaker: CircuitBreaker = {
      ...closedCircuit,
      admit: (about, options) => {
        asked.push(options);
        return closedCircuit.admit(about);
      },
    };
    for (const record of [extractionIn('RUNNING'), extractionIn('COMPLETED')]) {
      await expect(world({ breaker, record }).start()).resolves.toBeDefined();
    }
    expect(asked).toEqual([]);
    const late = world({ breaker });
    late.time.set(timings.startWindow);
    expect(await late.start()).toMatchObject({ as: 'queued', record: { status: 'REQUESTED' } });
    expect([asked, late.posts]).toEqual([[{ onlyAsk: true }], []]);
  });

  test('are asked by caller and entity, and a held start unseals, calls and writes nothing', async () => {
    const { breaker } = breakerThat('held');
    const asked: unknown[] = [];
    const held = world({
      breaker: {
        ...breaker,
        admit: (about) => {
          asked.push(about);
          return breaker.admit(about);
        },
      },
    });
    expect(await held.start()).toMatchObject({
      as: 'not-yet',
      why: 'ProviderPaused',
      problem: 'held/http-503',
    });
    expect([held.events, held.record()]).toEqual([[], extraction()]);
    const { requestedBy: caller } = extraction();
    expect(asked).toEqual([{ extraction: id.slice(-12), caller, group: 'bank' }]);
  });

  test.each([
    ['a 2xx with a task id', 'task-1', { kind: 'accepted' }],
    ['503', http(503), failed('http-503')],
    ['400', refused(400), nothing],
    ['429', busy(), nothing],
    ['a 2xx without a task id', new ProviderAmbiguous('no taskId'), nothing],
  ])('get what the start call showed: %s', async (_, answer, seen) => {
    const { breaker, reported } = breakerThat('pass');
    await world({ breaker, answers: [answer] }).start();
    expect(reported).toEqual([seen]);
  });

  test('get what the login after a 401 showed, and what the second call did', async () => {
    let logins = 0;
    const logIn = async () => {
      logins += 1;
      return logins === 1 ? 'session' : Promise.reject(http(500));
    };
    const login = breakerThat('pass');
    await world({ breaker: login.breaker, answers: [unauthorized()], logIn }).start();
    expect(login.reported).toEqual([failed('http-500')]);
    const second = breakerThat('pass');
    await world({ breaker: second.breaker, answers: [unauthorized(), 'task-1'] }).start();
    expect(second.reported).toEqual([{ kind: 'accepted' }]);
    const refusedTwice = breakerThat('pass');
    await world({ breaker: refusedTwice.breaker, answers: [unauthorized()] }).start();
    expect(refusedTwice.reported).toEqual([nothing]);
  });

  test('get one report of a start that failed on our side', async () => {
    const { breaker, reported } = breakerThat('turn');
    const { start } = world({ breaker, unseal: () => Promise.reject(new Error('KMS')) });
    await expect(start()).rejects.toThrow('KMS');
    expect(reported).toEqual([nothing]);
  });

  test('get the result after the record is written', async () => {
    const { breaker } = breakerThat('pass');
    const statuses: unknown[] = [];
    const { start, record } = world({
      breaker: { ...breaker, report: async () => void statuses.push(record()?.status) },
      answers: [http(503)],
    });
    await start();
    expect(statuses).toEqual(['UNCONFIRMED']);
  });

  test('have a login before the start in a turn, also with a token of the caller’s, and no start if it fails', async () => {
    const turn = breakerThat('turn');
    const { start, events } = world({ breaker: turn.breaker, plaintext: withToken });
    await start();
    expect(events).toEqual(expect.arrayContaining(['login', 'post on STARTING']));
    expect(events.indexOf('login')).toBeLessThan(events.indexOf('post on STARTING'));
    const failing = breakerThat('turn');
    const held = world({ breaker: failing.breaker, logIn: () => Promise.reject(http(503)) });
    expect(await held.start()).toMatchObject({ why: 'ProviderUnreachable', problem: 'login-http-503' });
    expect([held.posts, failing.reported]).toEqual([[], [failed('http-503')]]);
    const passing = world({ plaintext: withToken });
    await passing.start();
    expect(passing.events).not.toContain('login');
  });

  /** A start whose call is slow, and then answered so. `timers`: those that still wait at the end. */
  const slowStart = async (kind: 'pass' | 'turn', answer: Answer) => {
    const { breaker, reported } = breakerThat(kind);
    const timers = new Set<() => void>();
    const during: unknown[] = [];
    await world({
      breaker,
      answers: [answer],
      whenSlow: (callback) => {
        timers.add(callback);
        return () => timers.delete(callback);
      },
      meanwhile: () => {
        for (const callback of timers) callback();
        during.push(...reported);
      },
    }).start();
    return { reported, during, timers };
  };

  test('learn of a slow start while it is under way, and of its end unless that is the same failure', async () => {
    const slow = { kind: 'slow' };
    const failing = await slowStart('pass', http(503));
    expect([failing.during, failing.reported]).toEqual([[slow], [slow, nothing]]);
    expect((await slowStart('pass', 'task-1')).reported).toEqual([slow, { kind: 'accepted' }]);
    expect((await slowStart('turn', http(503))).reported).toEqual([slow, failed('http-503')]);
  });

  test('wait for no start that has ended', async () => {
    expect((await slowStart('pass', 'task-1')).timers.size).toBe(0);
    expect((await slowStart('pass', http(503))).timers.size).toBe(0);
  });
});

describe('credentials that the bank refused before', () => {
  const mac = credentialsMac('key', extraction(), { username: 'u', password: 'p' });
  const mark = {
    credentialsMac: mac,
    extractionId: 'another',
    noticedAt: iso(1),
    isRefused: true,
    expiresAt: Date.parse(iso(1_000)) / 1_000,
  };
  const marked = (setup: Parameters<typeof world>[0] = {}, fields: Partial<typeof mark> = {}) => {
    const started = world(setup);
    started.marks.refusals.items.set(mac, { ...mark, ...fields });
    return started;
  };

  test('are not sent: no call is made, and the record ends', async () => {
    const { start, record, requests, posts, events, logins, counted } = marked();
    expect(await start()).toMatchObject({ as: 'closed' });
    expect(record()).toMatchObject({
      status: 'REJECTED',
      reason: 'credentials-refused-before',
      settledBy: 'start',
      isFinal: true,
    });
    expect(record()).not.toHaveProperty('attemptId');
    expect([posts, logins(), requests.items.size]).toEqual([[], 0, 0]);
    expect(events.filter((event) => event === 'session' || event === 'login')).toEqual([]);
    expect(counted).toEqual(['Rejected']);
  });

  test.each([
    ['the user has confirmed them', { plaintext: { ...raw, confirmed: true } }, {}],
    ['confirmed ones were accepted since', {}, { isRefused: false }],
    ['the mark has ended', {}, { expiresAt: Date.parse(iso(5)) / 1_000 }],
    ['they are of another caller', { record: extraction({ requestedBy: 'other' }) }, {}],
    ['they are for another entity', { record: extraction({ entity: 'other-bank' }) }, {}],
    ['they are persisted', { plaintext: { credentials: { mode: 'persisted', value: 'ciphertext' } } }, {}],
  ] as const)('are sent if %s', async (_, setup, fields) => {
    const { start, posts, task } = marked(setup, fields);
    await start();
    expect(posts).toHaveLength(1);
    expect(task()?.isConfirmed).toBe(
      'plaintext' in setup && 'confirmed' in setup.plaintext ? true : undefined,
    );
  });

  test('are not sent either if nobody knows whether they were refused', async () => {
    const failing = ({ store }: StoreCall): void => {
      if (store === 'refusals') throw new Error('throttled');
    };
    const { start, posts, record } = world({ faults: { before: failing } });
    await expect(start()).rejects.toThrow('throttled');
    expect([posts, record()?.status]).toEqual([[], 'REQUESTED']);
  });

  test('are recognized by the MAC that the link stores, also if an earlier attempt ended before the link', async () => {
    const first = world();
    await first.start();
    expect(first.task()).toMatchObject({ credentialsMac: mac });
    const retried = world({ record: extractionIn('RUNNING') });
    await retried.start(1);
    expect(retried.task()).toMatchObject({ credentialsMac: mac, callbackAttempt: 1 });
    const late = world({ record: extractionIn('RUNNING') });
    late.requests.items.clear();
    await late.start(1);
    expect(late.task()).not.toHaveProperty('credentialsMac');
  });

  test('are marked by an early delivery before the outcome is written', async () => {
    const early = { taskId: 'task-1', taskStatus: 'CREDENTIALS_WRONG', notifiedAt: iso(3) };
    let marksAtWrite = 0;
    const started = world({
      through: (store) => ({
        ...store,
        apply: (change) => {
          if (change.set.status === 'CREDENTIALS_WRONG') marksAtWrite = started.marks.refusals.items.size;
          return store.apply(change);
        },
      }),
    });
    started.tasks.items.set('task-1', early);
    await started.start();
    expect(started.record()).toMatchObject({ status: 'CREDENTIALS_WRONG' });
    expect(marksAtWrite).toBe(1);
    expect(started.marks.refusals.items.get(mac)).toMatchObject({ noticedAt: iso(3), extractionId: id });
  });
});
