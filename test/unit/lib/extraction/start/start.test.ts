import { describe, expect, test, vi } from 'vitest';
import type { CircuitBreaker } from '#lib/breaker/circuit-breaker.ts';
import { loginProblemOf } from '#lib/extraction/codes.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import { credentialsMac, knownCredentials } from '#lib/extraction/refused-credentials.ts';
import type { SealedCredentialsData } from '#lib/extraction/sealed-request-data.ts';
import { type StartDeps, start } from '#lib/extraction/start/start.ts';
import { callByCredentials } from '#lib/extraction/start/start-call.ts';
import { NotConfigured } from '#lib/not-configured.ts';
import type { TaskRequest } from '#lib/provider/tasks/start-task.ts';
import type { SessionTokens } from '#lib/provider/tokens/session-tokens.ts';
import {
  ProviderAmbiguous,
  ProviderBusy,
  ProviderRefused,
  ProviderUnauthorized,
  ProviderUnreachable,
} from '#lib/provider/transport/errors.ts';
import type { StartLimiter } from '#lib/rate-limit/start-limiter.ts';
import { extraction, extractionIn, id, iso, timings } from '../../../../support/data/extraction-fixtures.ts';
import { extractionInMemory } from '../../../../support/stores/extraction-in-memory.ts';
import { breakerThat, closedCircuit } from '../../../../support/stores/memory-breaker-store.ts';
import { storedRequest } from '../../../../support/stores/memory-request-store.ts';
import { memoryStartLine, openLine } from '../../../../support/stores/memory-start-line.ts';
import { taskExpiry } from '../../../../support/stores/memory-task-store.ts';
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
    readonly record?: Extraction;
    readonly plaintext?: SealedCredentialsData | Error;
    /** One for each start call, in order; the last one stays. */
    readonly answers?: readonly Answer[];
    readonly faults?: StoreFaults;
    /** `count`: how many logins this makes. */
    readonly logIn?: (count: number) => Promise<string>;
    readonly breaker?: CircuitBreaker;
    readonly startLine?: NonNullable<StartDeps['startLine']>;
    readonly whenSlow?: StartDeps['whenSlow'];
    /** How much of the invocation is left after these events. */
    readonly msLeft?: (events: readonly string[]) => number;
  } = {},
) => {
  const { record = extraction(), faults } = setup;
  const events: string[] = [];
  const onMessage = (message: string) => void events.push(message);
  const { deps: stores, seen } = extractionInMemory(record, { faults, onMessage });
  const posts: Post[] = [];
  let logins = 0;
  let session: string | undefined;
  const logIn = async () => {
    logins += 1;
    return setup.logIn?.(logins) ?? `session-${logins}`;
  };

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
      events.push(`post on ${seen.record()?.status}`);
      posts.push({ token, request });
      const answers = setup.answers ?? ['task-1'];
      const answer = answers[Math.min(posts.length, answers.length) - 1];
      if (typeof answer !== 'string') throw answer;
      return answer;
    },
  };
  const deps: StartDeps = {
    ...stores,
    callFor: async (record) => {
      events.push('unseal');
      if (record.method !== 'credentials') throw new Error('It is not by credentials.');
      const { plaintext: unsealed = raw } = setup;
      if (unsealed instanceof Error) throw unsealed;
      const known = await knownCredentials(record, unsealed, { key: async () => 'key', keptDays: 7 });
      return { ...callByCredentials(record, unsealed, byCredentials), ...known };
    },
    breaker: setup.breaker ?? closedCircuit,
    startLine: setup.startLine ?? openLine(),
    logIn: sessions.renew,
    whenSlow: setup.whenSlow ?? (() => () => undefined),
    msLeft: () => setup.msLeft?.(events) ?? 60_000,
    maxCallMs: 20_000,
    newAttemptId: () => `attempt-${posts.length + 1}`,
    send: async () => undefined,
  };
  const startAs = async (callbackAttempt = 0, changed: Partial<typeof timings> = {}) => {
    const callbackToken = `token-${callbackAttempt}`;
    const result = await start(
      {
        ...{ extractionId: id, requestId: 'request-1', callbackToken, callbackAttempt },
        ...{ entry: 0, isReleased: false },
      },
      { ...deps, timings: { ...timings, ...changed } },
    );
    if (result.conclusion !== 'gone') expect(result.record).toEqual(seen.record());
    return result;
  };
  /** `start` also checks that the result has the record as it is stored. */
  return { ...seen, start: startAs, posts, events, logins: () => logins };
};

const notYet = (error: string, problem: string) => {
  const because = { explanation: error, error, problem };
  return { conclusion: 'not-yet', ...because, record: extraction() };
};

test('without webhooks, none is requested, and the queue polls the linked task from its start on', async () => {
  const { start, posts, task, requests } = world({ record: extraction({ withoutWebhook: true }) });
  expect(await start()).toMatchObject({
    conclusion: 'queued',
    record: { status: 'RUNNING', dueAt: iso(10) },
  });
  expect(posts[0]?.request).not.toHaveProperty('webhook');
  expect(task()).toMatchObject({ extractionId: id });
  expect(requests.items.size).toBe(0);
});

test('credentials that a caller encrypted are not sent an hour after the request', async () => {
  const { start, posts, time, logins } = world({ plaintext: withToken });
  time.set(3_600);
  // Within the window of a stage that allows a day.
  const late = start(0, { startWindow: 86_400 });
  expect(await late).toEqual(notYet('CiphertextExpired', 'ciphertext-expired'));
  expect([posts, logins()]).toEqual([[], 0]);
});

describe('when the provider asked to wait', () => {
  const waiting = extraction({ notBefore: iso(2_000), lastProblem: 'http-429' });
  const retryAfter = { kind: 'delay', seconds: 60 };

  test('nothing is done before that', async () => {
    const { start, events } = world({ record: waiting });
    expect(await start()).toMatchObject({
      conclusion: 'not-yet',
      explanation: 'ProviderBusy',
      error: 'ProviderBusy',
      problem: 'http-429',
    });
    expect(events).toEqual([]);
  });

  test('by a login, the record keeps until when, and why', async () => {
    const { start, record } = world({ logIn: () => Promise.reject(Object.assign(busy(), { retryAfter })) });
    expect(await start()).toMatchObject({ conclusion: 'not-yet', error: 'ProviderBusy' });
    expect(record()).toEqual(extraction({ notBefore: iso(65), lastProblem: 'login-http-429' }));
  });

  test('by the start call, also if the start cannot go in line', async () => {
    const limiter: StartLimiter = {
      admit: async () => 'go',
      report: async () => undefined,
      enqueue: () => Promise.reject(new Error('StartLine is down.')),
    };
    const startLine = { limiter, line: memoryStartLine() };
    const { start, record, counted } = world({
      answers: [Object.assign(busy(), { retryAfter })],
      startLine,
    });
    expect(await start()).toMatchObject({ error: 'ProviderBusy', problem: 'http-429' });
    // Its error is counted where the machine gets it.
    expect(counted).toEqual([]);
    expect(record()).toMatchObject({ status: 'REQUESTED', notBefore: iso(65), lastProblem: 'http-429' });
  });
});

test('a start that the rate refused is counted when it goes in line, as the machine gets no error to count', async () => {
  const limiter: StartLimiter = {
    admit: async () => 'go',
    report: async () => undefined,
    enqueue: async () => undefined,
  };
  const { start, counted } = world({ answers: [busy()], startLine: { limiter, line: memoryStartLine() } });
  expect(await start()).toMatchObject({ conclusion: 'not-yet', error: 'Waits' });
  expect(counted).toEqual(['ProviderBusy']);
});

test('too little time for the call, after slow ones of AWS: the start is not claimed', async () => {
  const msLeft = (events: readonly string[]) => (events.includes('session') ? 20_999 : 60_000);
  const { start, record } = world({ msLeft });
  expect(await start()).toEqual(notYet('TooLittleTime', 'InternalError'));
  expect(record()).toEqual(extraction());
});

test('too little time for a login and a second call after a 401: it is retried, as nothing was accepted', async () => {
  const { start, posts, logins, record } = world({
    answers: [unauthorized(), 'task-1'],
    msLeft: (events) => (events.includes('post on STARTING') ? 40_999 : 60_000),
  });
  expect(await start()).toMatchObject({ error: 'ProviderUnauthorized', problem: 'http-401' });
  expect([posts.length, logins(), record()?.status]).toEqual([1, 1, 'REQUESTED']);
  // The refused token is not used again.
  await start(1);
  expect(posts[1]?.token).toBe('session-2');
});

describe('the item of the request', () => {
  test('that is lost, or is that of another extraction, starts nothing and is retried', async () => {
    const { start, requests, posts } = world();
    requests.items.set('request-1', storedRequest('another'));
    expect(await start()).toEqual(notYet('RequestDataGone', 'request-data-gone'));
    expect(posts).toEqual([]);
  });
});

/** The item of the task, as the first start-task links it. */
const linked = {
  taskId: 'task-1',
  extractionId: id,
  callbackToken: 'token-0',
  callbackAttempt: 0,
  credentialsMac: expect.any(String),
  expiresAt: taskExpiry,
};

describe('a successful start', () => {
  const dateRange = { startDate: '2026-01-01', endDate: '2026-01-31' };
  const asked = { entity: 'other', actions: [{ id: 'movement', params: { dateRange } }] };

  test('ends with the record RUNNING and the callback token stored, after one start call', async () => {
    const { start, task, events, counted, measured, progress, posts } = world({ record: extraction(asked) });
    const record = {
      status: 'RUNNING',
      attemptId: 'attempt-1',
      taskId: 'task-1',
      startingAt: iso(5),
      startedAt: iso(5),
    };
    expect(await start()).toMatchObject({ conclusion: 'awaits-webhook', record });
    expect(task()).toEqual(linked);
    // Every harmless step comes before the STARTING write, and the start call after it.
    expect(events).toEqual(['unseal', 'session', 'post on STARTING', 'The provider accepted the task.']);
    expect(counted).toEqual([]);
    expect(measured).toEqual([['SecondsToStart', 5]]);
    expect(progress).toEqual([['Extraction started.', { extractionId: id, entity: 'other', seconds: 5 }]]);
    // The recorded request with the unsealed credentials and five deliveries.
    const request = { ...asked, credentials: raw.credentials, webhook: { enable: true, retries: 5 } };
    expect(posts).toEqual([{ token: 'session-1', request }]);
  });
});

const noKey = () => new NotConfigured('secret', 'provider-api-key');

describe('a failure before the STARTING write leaves the record unchanged', () => {
  test.each<readonly [string, () => Error, string]>([
    ['the API key is refused', unauthorized, 'ProviderUnauthorized'],
    ['the API key is not stored yet', noKey, 'ProviderUnauthorized'],
    ['the login is refused', () => refused(403), 'ProviderUnauthorized'],
    ['the provider is busy', busy, 'ProviderBusy'],
    ['the login is not answered, which changes nothing', ambiguous, 'ProviderUnauthorized'],
  ])('%s', async (_what, failure, error) => {
    const { start, posts } = world({ logIn: () => Promise.reject(failure()) });
    const problem = loginProblemOf(failure());
    expect(await start()).toEqual(notYet(error, problem));
    expect(posts).toHaveLength(0);
  });
});

test.each<readonly [string, () => Error, string, string]>([
  ['429', busy, 'Waits', 'http-429'],
  ['no connection', unreachable, 'ProviderUnreachable', 'unreachable'],
])(
  'after %s a start was certainly not accepted, and is REQUESTED again',
  async (_, failure, error, problem) => {
    const { start, posts, requests } = world({ answers: [failure()] });
    const record = extraction({ attemptId: 'attempt-1', lastProblem: problem });
    expect(await start()).toEqual({ conclusion: 'not-yet', explanation: error, error, problem, record });
    expect([posts.length, requests.items.size]).toEqual([1, 1]);
  },
);

test.each([400, 403, 409])('a start that is refused with %i ends as REJECTED', async (status) => {
  const { start, posts, requests, counted, progress } = world({ answers: [refused(status)] });
  const { conclusion, record } = await start();
  const outcome = { status: 'REJECTED', reason: `http-${status}` };
  expect([conclusion, record]).toMatchObject([
    'closed',
    { ...outcome, settledAt: iso(5), settledBy: 'start' },
  ]);
  expect(record).not.toHaveProperty('dueShard');
  expect([posts.length, requests.items.size]).toEqual([1, 0]);
  expect(counted).toEqual(['Rejected']);
  expect(progress).toMatchObject([['Extraction ended.', outcome]]);
});

describe('401 on the start call', () => {
  const record = (lastProblem: string) => extraction({ attemptId: 'attempt-1', lastProblem });

  test('twice means not accepted, and the second token is dropped too', async () => {
    const { start, posts } = world({ answers: [unauthorized(), unauthorized(), 'task-1'] });
    const [error, problem] = ['ProviderUnauthorized', 'http-401'];
    expect(await start(0)).toEqual({
      conclusion: 'not-yet',
      explanation: error,
      error,
      problem,
      record: record(problem),
    });
    await start(1);
    expect(posts.map(({ token }) => token)).toEqual(['session-1', 'session-2', 'session-3']);
  });

  test('and then any failed login means not accepted, because of the 401', async () => {
    for (const failure of [unauthorized(), ambiguous(), new Error('own failure')]) {
      const logIn = async (count: number) => (count === 1 ? 'session-1' : Promise.reject(failure));
      const { start, posts } = world({ answers: [unauthorized()], logIn });
      const [error, problem] = ['ProviderUnauthorized', loginProblemOf(failure)];
      expect(await start()).toEqual({
        conclusion: 'not-yet',
        explanation: error,
        error,
        problem,
        record: record(problem),
      });
      expect(posts).toHaveLength(1);
    }
  });
});

test.each<readonly [string, Error]>([
  ['5xx, 408, 3xx, a timeout, a reset, a 2xx without a taskId', ambiguous()],
  ['an unexpected exception', new RangeError('bug')],
])(
  'any other failure means that a task may exist, and the call is never repeated: %s',
  async (_what, failure) => {
    const { start, posts, requests, counted, progress, time } = world({ answers: [failure] });
    const { conclusion, record } = await start(0);
    const unconfirmed = { status: 'UNCONFIRMED', settledBy: 'start', settledAt: iso(5) };
    expect([conclusion, record]).toMatchObject(['closed', unconfirmed]);
    expect(record).not.toHaveProperty('dueShard');
    expect(counted).toEqual(['Unconfirmed']);
    expect(progress).toMatchObject([['Extraction ended.', { status: 'UNCONFIRMED', seconds: 5 }]]);
    time.advance(1_000);
    expect(await start(1)).toMatchObject({ conclusion: 'closed', record });
    expect([posts.length, requests.items.size]).toEqual([1, 0]);
  },
);

test('a task that a later attempt has linked is that of the extraction', async () => {
  const { start, tasks } = world();
  const later = { taskId: 'task-1', extractionId: id, callbackToken: 'later', callbackAttempt: 5 };
  tasks.items.set('task-1', later);
  expect(await start(0)).toMatchObject({ conclusion: 'awaits-webhook', record: { status: 'RUNNING' } });
});

describe('an invocation that finds a start made or in progress', () => {
  test('links a task that reconcile has adopted, and settles with the status that a webhook left', async () => {
    const adopted = { taskId: 'task-1', extractionId: id };
    const quiet = world({ record: extractionIn('RUNNING') });
    quiet.tasks.items.set('task-1', adopted);
    expect(await quiet.start(0)).toMatchObject({ conclusion: 'awaits-webhook' });
    expect(quiet.task()).toEqual(linked);
    const held = world({ record: extractionIn('RUNNING') });
    held.tasks.items.set('task-1', { ...adopted, taskStatus: 'FAILED' });
    const record = { status: 'FAILED', settledBy: 'start' };
    expect(await held.start(0)).toMatchObject({ conclusion: 'queued', record });
    expect(held.counted).toEqual(['SettledByStart', 'EarlyDelivery']);
  });

  test('leaves a record that is REQUESTED again to the next retry', async () => {
    const { start, posts, extractions } = world();
    extractions.apply = async () => ({ applied: false, record: extraction() });
    expect(await start()).toMatchObject({ conclusion: 'not-yet', error: 'StartInProgress' });
    expect(posts).toHaveLength(0);
  });
});

test.each([
  [2, 'awaits-webhook', 'RUNNING'],
  [3, 'throttled', 'STARTING'],
])('from the STARTING write on, a write is tried three times: %i fail', async (failures, ended, status) => {
  let writes = 0;
  const before = ({ method }: StoreCall): void => {
    if (method === 'apply') writes += 1;
    if (method === 'apply' && writes > 1 && writes <= 1 + failures) throw new Error('throttled');
  };
  const { start, record } = world({ faults: { before } });
  const result = start().then(
    ({ conclusion }) => conclusion,
    ({ message }: Error) => message,
  );
  expect(await result).toBe(ended);
  expect(record()?.status).toBe(status);
});

describe('the breakers of starts', () => {
  const http = (status: number) => new ProviderAmbiguous(`${status}`, { status });
  const failed = (cause: string) => ({ kind: 'failed', cause });
  const nothing = { kind: 'nothing' };

  test('are asked by caller and entity, and a held start unseals, calls and writes nothing', async () => {
    const { breaker } = breakerThat('held');
    const admit = vi.spyOn(breaker, 'admit');
    const held = world({ breaker });
    expect(await held.start()).toEqual(notYet('Waits', 'held/http-503'));
    expect(held.events).toEqual([]);
    const { requestedBy: caller } = extraction();
    const about = { extraction: id.slice(-8), caller, group: 'bank' };
    expect(admit.mock.calls).toEqual([[about, { onlyCheck: false }]]);
  });

  const reportedOf = async (setup: Parameters<typeof world>[0]) => {
    const { breaker, reported } = breakerThat('pass');
    await world({ breaker, ...setup }).start();
    return reported;
  };

  test('get what the login after a 401 showed, and what the second call did', async () => {
    const logIn = async (count: number) => (count === 1 ? 'session' : Promise.reject(http(500)));
    expect(await reportedOf({ answers: [unauthorized()], logIn })).toEqual([failed('http-500')]);
    expect(await reportedOf({ answers: [unauthorized(), 'task-1'] })).toEqual([{ kind: 'accepted' }]);
    expect(await reportedOf({ answers: [unauthorized()] })).toEqual([nothing]);
  });

  test('get nothing from the refusal of a session token that the caller supplied', async () => {
    expect(await reportedOf({ plaintext: withToken, answers: [unauthorized()] })).toEqual([nothing]);
  });

  test('have a login before the start in a turn, also with a token of the caller’s, and no start if it fails', async () => {
    const turn = breakerThat('turn');
    const { start, events } = world({ breaker: turn.breaker, plaintext: withToken });
    await start();
    expect(events).toEqual(expect.arrayContaining(['login', 'post on STARTING']));
    expect(events.indexOf('login')).toBeLessThan(events.indexOf('post on STARTING'));
    const failing = breakerThat('turn');
    const held = world({ breaker: failing.breaker, logIn: () => Promise.reject(http(503)) });
    expect(await held.start()).toMatchObject({
      explanation: 'ProviderUnauthorized',
      error: 'ProviderUnauthorized',
      problem: 'login-http-503',
    });
    expect([held.posts, failing.reported]).toEqual([[], [failed('http-503')]]);
    const passing = world({ plaintext: withToken });
    await passing.start();
    expect(passing.events).not.toContain('login');
  });

  test('would learn of a slow login or start while it is under way, and no longer', async () => {
    const watched = { begun: 0, ended: 0 };
    const whenSlow = () => {
      watched.begun += 1;
      return () => {
        watched.ended += 1;
      };
    };
    await world({ whenSlow }).start();
    expect(watched).toEqual({ begun: 2, ended: 2 });
  });
});

describe('credentials that the bank refused before', () => {
  const mac = credentialsMac('key', extraction(), { username: 'u', password: 'p' });
  const marked = (setup: Parameters<typeof world>[0] = {}) => {
    const started = world(setup);
    started.refusals.items.set(mac, {
      credentialsMac: mac,
      extractionIds: ['another'],
      noticedAt: iso(1),
      isRefused: true,
      expiresAt: Date.parse(iso(1_000)) / 1_000,
    });
    return started;
  };

  test('are not sent: no call is made, and the record ends', async () => {
    const { start, requests, posts, events, logins, counted } = marked();
    const { conclusion, record } = await start();
    const reason = 'credentials-refused-before';
    const rejected = { status: 'REJECTED', reason, settledBy: 'start', isFinal: true };
    expect([conclusion, record]).toMatchObject(['closed', rejected]);
    expect(record).not.toHaveProperty('attemptId');
    expect([posts, logins(), requests.items.size]).toEqual([[], 0, 0]);
    expect([events, counted]).toEqual([['unseal'], ['Rejected']]);
  });

  test.each([
    ['the user has confirmed them', { plaintext: { ...raw, confirmed: true } }, true],
    ['they are of another caller', { record: extraction({ requestedBy: 'other' }) }, undefined],
  ] as const)('are sent if %s', async (_, setup, isConfirmed) => {
    const { start, posts, task } = marked(setup);
    await start();
    expect(posts).toHaveLength(1);
    expect(task()?.isConfirmed).toBe(isConfirmed);
    expect(task()?.afterMark).toBe(isConfirmed === true ? iso(1) : undefined);
  });

  const confirmed = { ...raw, confirmed: true } as const;
  const running = extractionIn('RUNNING');
  const accepted = { taskStatus: 'COMPLETED', firstStatus: 'COMPLETED', notifiedAt: iso(0) };

  test.each([
    ['after their mark too', {}, iso(1)],
    [
      'when they were noticed, if that may be before their mark',
      { ...accepted, noticedAt: iso(0) },
      undefined,
    ],
    ['after the mark of the first link', { extractionId: id, afterMark: iso(0) }, iso(0)],
  ])('count %s if a retry links the task of the confirmed ones', async (_, found, afterMark) => {
    const { start, task, tasks, marks } = marked({ plaintext: confirmed, record: running });
    tasks.items.set('task-1', { taskId: 'task-1', ...found });
    await start();
    expect(task()).toMatchObject({ credentialsMac: mac, isConfirmed: true });
    expect(task()?.afterMark).toBe(afterMark);
    expect(marks()).toMatchObject([{ extractionIds: ['another'], isRefused: true }]);
  });

  test.each(['refusals', 'unseal'])(
    'keep no task from its link if they cannot be recalled: %s',
    async (failing) => {
      const before = ({ store }: StoreCall): void => {
        if (store === failing) throw new Error('throttled');
      };
      const plaintext = failing === 'unseal' ? new Error('KMS') : confirmed;
      const { start, task, failures } = world({ plaintext, record: running, faults: { before } });
      expect(await start()).toMatchObject({ conclusion: 'awaits-webhook' });
      expect(task()).toMatchObject({ extractionId: id });
      expect(task()?.credentialsMac).toBe(failing === 'unseal' ? undefined : mac);
      expect(failures).toHaveLength(1);
    },
  );

  test('are not sent either if nobody knows whether they were refused', async () => {
    const failing = ({ store }: StoreCall): void => {
      if (store === 'refusals') throw new Error('throttled');
    };
    const { start, posts, record } = world({ faults: { before: failing } });
    await expect(start()).rejects.toThrow('throttled');
    expect([posts, record()?.status]).toEqual([[], 'REQUESTED']);
  });

  test('are marked by an early delivery before the outcome is written', async () => {
    const order: string[] = [];
    const before = ({ store, method }: StoreCall) => void order.push(`${method} ${store}`);
    const { start, tasks, marks } = world({ faults: { before } });
    tasks.items.set('task-1', { taskId: 'task-1', taskStatus: 'CREDENTIALS_WRONG', notifiedAt: iso(3) });
    await start();
    expect(order.indexOf('put refusals')).toBeLessThan(order.lastIndexOf('apply extractions'));
    expect(marks()).toMatchObject([{ credentialsMac: mac, noticedAt: iso(3), extractionIds: [id] }]);
  });
});
