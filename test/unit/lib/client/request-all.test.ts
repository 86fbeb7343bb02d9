import { describe, expect, test } from 'vitest';
import { extractionsClient } from '#lib/client/extractions-client.ts';
import { type BatchRequest, keyInBatch, requestAll } from '#lib/client/request-all.ts';
import { problem } from '#lib/http/problem.ts';

test('all of a list are requested under the name of their batch, and what is refused is returned', async () => {
  const fetch = async (_url: string, init?: RequestInit) =>
    new Response('{}', { status: String(init?.body).includes('eva') ? 400 : 202 });
  const { requestAll } = extractionsClient({ apiUrl: 'https://api.example', fetch });
  const consentOf = (user: string) =>
    ({ product: 'movement', consentId: user, target: '11.111.111-1' }) as const;
  const { accepted, replayed, refused } = await requestAll(
    ['ana', 'eva', 'leo'].map((user) => ({ method: 'consent', ...consentOf(user), reference: user })),
    { batch: 'morning-2026-11-27' },
  );
  expect([accepted, replayed]).toEqual([2, 0]);
  expect(refused).toMatchObject([{ index: 1, error: { status: 400 } }]);
});

const requestOf = (reference: string, more: object = {}): BatchRequest => ({
  entity: 'bank',
  credentials: { mode: 'raw', value: { username: 'u', password: 'SENTINEL' } },
  actions: [{ id: 'tef' }],
  reference,
  ...more,
});
const requests = (count: number) => Array.from({ length: count }, (_, index) => requestOf(`user ${index}`));

const answered = (status: number, headers: Record<string, string> = {}) =>
  new Response(status < 300 ? '{"extractionId":"e-1"}' : '{"message":"Too Many Requests"}', {
    status,
    headers,
  });

/** The API in memory: a key is new once. `answer` comes first, if it returns something. */
const api = (answer: (call: number, key: string) => Response | undefined = () => undefined) => {
  const [started, sleeps]: [Set<string>, number[]] = [new Set(), []];
  const bodies: Record<string, unknown>[] = [];
  let [calls, running, most] = [0, 0, 0];
  const fetch = async (_url: string, init?: RequestInit) => {
    const key = new Headers(init?.headers).get('idempotency-key') ?? '';
    running += 1;
    most = Math.max(most, running);
    await Promise.resolve();
    running -= 1;
    const other = answer(calls++, key);
    if (other !== undefined) return other;
    const isNew = !started.has(key);
    started.add(key);
    bodies.push(JSON.parse(String(init?.body)));
    return isNew ? answered(202) : answered(200, { 'idempotency-replayed': 'true' });
  };
  const run = (all: readonly BatchRequest[], more: object = {}) =>
    requestAll(
      'https://api.example',
      all,
      { batch: 'b', ...more },
      { fetch, sleep: async (ms) => void sleeps.push(ms) },
    );
  return { run, started, sleeps, bodies, calls: () => calls, most: () => most };
};

test('a second run starts nothing twice, also after one that ended in between', async () => {
  let ends = true;
  const { run, started } = api((call) => {
    if (call === 5 && ends) throw new TypeError('This process ends here.');
    return undefined;
  });
  await expect(run(requests(10))).rejects.toThrow('ends here');
  ends = false;
  const begun = started.size;
  expect(begun).toBeGreaterThan(0);
  expect(await run(requests(10))).toEqual({ accepted: 10 - begun, replayed: begun, refused: [] });
  expect(started.size).toBe(10);
});

test('each has the batch, and the priority background unless it says otherwise', async () => {
  const { run, bodies } = api();
  await run([requestOf('1'), requestOf('2', { priority: 'interactive', idempotencyKey: 'own' })]);
  expect(bodies).toMatchObject([
    { batch: 'b', priority: 'background' },
    { batch: 'b', priority: 'interactive' },
  ]);
  expect(bodies[1]).not.toHaveProperty('idempotencyKey');
});

describe('the key of a request', () => {
  const key = (request: BatchRequest, batch = 'b') => keyInBatch(batch, request);

  test('follows from what is shown of it: neither from a secret, nor from its priority, nor from the order of its fields', () => {
    const { reference: _reference, ...rest } = requestOf('1');
    const same = [
      { reference: '1', method: 'credentials', ...rest } as BatchRequest,
      requestOf('1', { priority: 'interactive' }),
      requestOf('1', { credentials: { mode: 'persisted', value: 'other' } }),
      requestOf('1', { sessionToken: 'other' }),
    ];
    expect(same.map((one) => key(one))).toEqual(same.map(() => key(requestOf('1'))));
    expect(key(requestOf('1'))).toMatch(/^batch-[\w-]{43}$/);
    const consent = { method: 'consent', product: 'tef', consentId: 'c' } as const;
    expect(key({ ...consent, target: '1-9' })).toBe(
      key({ ...consent, target: '2-7', variant: 'v1' as const }),
    );
    const others = [
      key(requestOf('2')),
      key(requestOf('1'), 'c'),
      key(requestOf('1', { confirmed: true })),
      key(requestOf('1', { actions: [{ id: 'product-balance' }] })),
    ];
    expect(new Set([key(requestOf('1')), ...others]).size).toBe(5);
  });

  test('is its own if it has one, and one that two requests share is used once', async () => {
    const { run, started } = api();
    const refused = [{ index: 1, error: expect.objectContaining({ name: 'SameRequestError' }) }];
    expect(await run([requestOf('1'), requestOf('1'), requestOf('1', { idempotencyKey: 'own' })])).toEqual({
      accepted: 2,
      replayed: 0,
      refused,
    });
    expect(started).toContain('own');
  });
});

describe('the throttle', () => {
  test('is waited for as long as it takes, and each is requested once', async () => {
    const { run, started, calls, sleeps } = api((call) => (call < 100 ? answered(429) : undefined));
    expect(await run(requests(20))).toMatchObject({ accepted: 20 });
    expect(started.size).toBe(20);
    expect(Math.max(...sleeps)).toBe(30_000);
    // One at a time soon: a crowd that comes back at once would be refused at once.
    expect(sleeps.length).toBeGreaterThan(calls() - 50);
  });

  test('is kept to: no more are in flight than it takes, and its Retry-After is waited for', async () => {
    const { run, most, sleeps } = api((call) =>
      call === 3 ? answered(503, { 'retry-after': '7' }) : undefined,
    );
    await run(requests(300));
    expect(sleeps).toEqual([7_000]);
    expect(most()).toBeGreaterThan(10);
    expect(most()).toBeLessThanOrEqual(50);
  });
});

test.each([400, 413, 422])('a request that is answered %i is refused alone', async (status) => {
  const { run } = api((call) => (call === 1 ? answered(status) : undefined));
  const outcome = await run(requests(5));
  expect(outcome).toMatchObject({ accepted: 4, refused: [{ index: 1, error: { status } }] });
});

test('a key that is blocked for an hour is refused alone, and is not waited for', async () => {
  const { body } = problem('idempotency-key-blocked', { retryAfter: 3_600 });
  const { run, sleeps } = api((call) => (call === 0 ? new Response(body, { status: 429 }) : undefined));
  expect(await run(requests(3))).toMatchObject({ accepted: 2, refused: [{ index: 0 }] });
  expect(sleeps).toEqual([]);
});

test('what each request would get ends the run at once, and an outage after two minutes', async () => {
  const forbidden = api(() => answered(403));
  await expect(forbidden.run(requests(100))).rejects.toMatchObject({ name: 'ApiError', status: 403 });
  expect(forbidden.calls()).toBeLessThan(5);
  const down = api(() => answered(500));
  await expect(down.run(requests(3))).rejects.toMatchObject({ status: 500 });
  expect(down.sleeps.reduce((sum, ms) => sum + ms, 0)).toBe(91_000);
});

test('a refusal of all names the same cause as that of one', async () => {
  const date = new Date(Date.now() - 37 * 60_000).toUTCString();
  const forbidden = async () => new Response('{"message":"Forbidden"}', { status: 403, headers: { date } });
  const cosecha = extractionsClient({ apiUrl: 'https://api.example', fetch: forbidden });
  const message = async (call: Promise<unknown>) => call.then(String, (error: Error) => error.message);
  const ofOne = await message(cosecha.requestExtraction(requestOf('user')));
  expect(ofOne).toContain('The clock of this machine is 37 min ahead of that of AWS.');
  expect(await message(cosecha.requestAll([requestOf('user')], { batch: 'b' }))).toBe(ofOne);
});

test('progress is reported, and a batch without a name is refused before anything is sent', async () => {
  const seen: number[] = [];
  const { run, calls } = api();
  await run(requests(9), { onProgress: ({ accepted }: { accepted: number }) => seen.push(accepted) });
  expect(seen).toEqual([4, 9]);
  await expect(run(requests(1), { batch: '' })).rejects.toThrow(RangeError);
  expect(calls()).toBe(9);
});

describe('what cannot be started in time', () => {
  const encrypted = (reference: string) =>
    requestOf(reference, { credentials: { mode: 'encrypted', value: 'SENTINEL' }, sessionToken: 'SENTINEL' });
  const warned = async (all: readonly BatchRequest[], line: object) => {
    const { run, calls } = api();
    const sentences: (readonly [string, number])[] = [];
    await run(all, { line, onWarning: (sentence: string) => sentences.push([sentence, calls()]) });
    return sentences;
  };

  test('is warned of before it is sent, once, without anything of it', async () => {
    const all = [...requests(2), ...['a', 'b', 'c'].map(encrypted)];
    const [[sentence, sent] = ['', 9], ...others] = await warned(all, { startsPerSecond: 1, inLine: 3_598 });
    expect(others).toEqual([]);
    expect(sent).toBeLessThan(4);
    expect(sentence).toContain('Request 4 of the batch would be started after 61 minutes');
    expect(sentence).toContain('ciphertext-expired. Encrypt and send at most 3600 in an hour.');
    expect(sentence).not.toContain('SENTINEL');
  });

  test('is also what waits for longer than anything may', async () => {
    const line = { startsPerSecond: 0.5, inLine: 100, maxWaitSeconds: 202 };
    expect(await warned(requests(3), line)).toEqual([
      [expect.stringContaining('Request 3'), expect.any(Number)],
    ]);
    expect(await warned(requests(2), line)).toEqual([]);
    expect(await warned([encrypted('a')], { startsPerSecond: 1, inLine: 3_600 })).toEqual([]);
  });
});
