import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sandboxControl } from '../../sandbox/control-client.ts';
import { DEMO_BUSINESS_ID, OUTCOMES } from '../../sandbox/outcomes.ts';
import { outcomesAsMarkdown, outcomesAsText } from '../../sandbox/print-outcomes.ts';
import { type RunningSandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { encryptedByOpenssl } from '../../support/openssl.ts';
import { BALANCE_AND_MOVEMENT, callerOf, MOVEMENT, requestFor } from './caller.ts';

let sandbox: RunningSandbox;
let token: string;
beforeAll(async () => {
  sandbox = await startSandbox({
    clients: [
      { clientId: 'one', apiKey: 'key-one' },
      { clientId: 'two', apiKey: 'key-two' },
    ],
  });
  token = await callerOf(sandbox).login();
});
afterAll(() => sandbox.close());

const movement = (dateRange: unknown) => [{ id: 'movement', params: { dateRange } }];
const raw = (value: unknown) => ({ mode: 'raw', value });

test('every documented form of a request is accepted', async () => {
  const requests = [
    requestFor('forms'),
    requestFor('forms', { actions: [{ id: 'tef' }, { id: 'product-balance' }] }),
    requestFor('forms', { actions: MOVEMENT, webhook: { enable: true, retries: 5 } }),
    requestFor('forms', { webhook: { enable: false } }),
    requestFor('forms', { credentials: raw({ username: 'forms', password: 'x', entityField: 7 }) }),
  ];
  for (const request of requests) {
    const response = await callerOf(sandbox).start(token, request);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ taskId: expect.stringMatching(/^.{1,100}$/) });
  }
});

test.each<[string, unknown, string]>([
  ['no JSON', '{"entity":', ''],
  ['no entity', requestFor('x', { entity: undefined }), 'entity'],
  ['no actions', requestFor('x', { actions: [] }), 'actions'],
  ['an unknown action', requestFor('x', { actions: [{ id: 'bill' }] }), 'actions.0.id'],
  ['movement without params', requestFor('x', { actions: [{ id: 'movement' }] }), 'actions.0.params'],
  [
    'product-balance with params',
    requestFor('x', { actions: [{ id: 'product-balance', params: {} }] }),
    'actions.0.params',
  ],
  [
    'a date in another format',
    requestFor('x', { actions: movement({ startDate: '01-02-2026', endDate: '2026-02-28' }) }),
    'actions.0.params.dateRange.startDate',
  ],
  [
    'a date that does not exist',
    requestFor('x', { actions: movement({ startDate: '2026-02-01', endDate: '2026-02-30' }) }),
    'actions.0.params.dateRange.endDate',
  ],
  ['a webhook without enable', requestFor('x', { webhook: { retries: 3 } }), 'webhook.enable'],
  ['six delivery attempts', requestFor('x', { webhook: { enable: true, retries: 6 } }), 'webhook.retries'],
  ['a field that the document does not name', requestFor('x', { reference: 'r' }), 'reference'],
  ['an unknown mode', requestFor('x', { credentials: { mode: 'plain', value: {} } }), 'credentials.mode'],
  ['no username', requestFor('x', { credentials: raw({ password: 'x' }) }), 'credentials.value'],
  [
    'an empty password',
    requestFor('x', { credentials: raw({ username: 'x', password: '' }) }),
    'credentials.value',
  ],
  [
    'no businessId for a business bank',
    requestFor('x', { entity: 'demo-business-bank', credentials: raw({ username: 'x', password: 'x' }) }),
    'credentials.value',
  ],
  [
    'ciphertext of no known form',
    requestFor('x', { credentials: { mode: 'encrypted', value: 'abc' } }),
    'credentials.value',
  ],
  [
    'persisted credentials that are not ours',
    requestFor('x', { credentials: { mode: 'persisted', value: 'abc' } }),
    'credentials.value',
  ],
])('a request with %s is answered with 400 and names the place', async (_, request, place) => {
  const response = await callerOf(sandbox).start(token, request);
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({ message: 'Invalid request', invalid: [place] });
});

test('a missing, unknown or malformed Bearer token is answered with 401 on start and on read', async () => {
  const url = `${sandbox.baseUrl}/api/v2/tasks`;
  for (const authorization of [undefined, 'Bearer unknown', `Basic ${token}`, token]) {
    const headers = authorization === undefined ? {} : { authorization };
    expect((await fetch(url, { method: 'POST', headers, body: '{}' })).status).toBe(401);
    expect((await fetch(`${url}/any`, { headers })).status).toBe(401);
  }
});

test('only the client that started a task may read it', async () => {
  const taskId = await callerOf(sandbox).startTask(requestFor('mine'));
  const other = callerOf({ baseUrl: sandbox.baseUrl, apiKey: 'key-two' });
  expect((await other.read(await other.login(), taskId)).status).toBe(403);
  expect((await callerOf(sandbox).read(token, taskId)).status).toBe(200);
  expect((await callerOf(sandbox).read(token, 'unknown')).status).toBe(404);
});

describe('outcomes', () => {
  let sandbox: RunningSandbox;
  let token: string;
  beforeAll(async () => {
    sandbox = await startSandbox({ taskDurationMs: 0 });
    token = await callerOf(sandbox).login();
  });
  afterAll(() => sandbox.close());

  const credentialsOf = (username: string, businessId: string | undefined = DEMO_BUSINESS_ID) => ({
    username,
    password: 'any-password',
    businessId,
  });

  const outcomeOf = async (credentials: unknown, actions: unknown = BALANCE_AND_MOVEMENT) => {
    const caller = callerOf(sandbox);
    const response = await caller.start(token, { entity: 'demo-bank', credentials, actions });
    const { taskId } = (await response.json()) as { taskId: string };
    return (await (await caller.read(token, taskId)).json()) as {
      taskStatus: string;
      results: { actions: { id: string; status: string; error?: { code: string } }[] } | null;
    };
  };

  test('the movements are in the range, which is adjusted to the existing records', async () => {
    const datesIn = async (startDate: string, endDate: string) => {
      const outcome = await outcomeOf({ mode: 'raw', value: credentialsOf('completed') }, [
        { id: 'movement', params: { dateRange: { startDate, endDate } } },
      ]);
      const actions = outcome.results?.actions as unknown as { output: { date: string; amount: number }[] }[];
      return actions[0]?.output.map((movement) => movement.date) ?? [];
    };
    const january = await datesIn('2026-01-01', '2026-01-31');
    expect(january.length).toBeGreaterThan(5);
    expect(january.every((date) => date.startsWith('2026-01-'))).toBe(true);
    expect((await datesIn('1990-01-01', '2020-01-31')).every((date) => date.startsWith('2020-01-'))).toBe(
      true,
    );
    const today = new Date().toISOString().slice(0, 10);
    expect((await datesIn('2026-01-01', '2999-12-31')).every((date) => date <= today)).toBe(true);
  });

  test('any other pair completes', async () => {
    const pairs = [credentialsOf('made-up'), credentialsOf('failed', '76543210-3')];
    for (const value of pairs) expect((await outcomeOf({ mode: 'raw', value })).taskStatus).toBe('COMPLETED');
  });

  test('encrypted credentials are refused under another token, and after 60 minutes', async () => {
    const caller = callerOf(sandbox);
    const text = JSON.stringify(credentialsOf('completed'));
    const encrypted = (under: string) =>
      requestFor('completed', { credentials: { mode: 'encrypted', value: encryptedByOpenssl(text, under) } });
    expect((await caller.start(token, encrypted(await caller.login()))).status).toBe(400);
    const longLived = await caller.login(120);
    expect((await caller.start(longLived, encrypted(longLived))).status).toBe(200);
    await sandboxControl(sandbox.baseUrl).advanceClock(3600);
    expect((await caller.start(longLived, encrypted(longLived))).status).toBe(400);
    token = await caller.login();
  });

  test('the table is printed as text and as Markdown, one line per row, and is in docs/sandbox.md', () => {
    expect(outcomesAsText().split('\n')).toHaveLength(OUTCOMES.length + 1);
    const markdown = outcomesAsMarkdown().split('\n');
    expect(markdown).toHaveLength(OUTCOMES.length + 2);
    expect(readFileSync(new URL('../../../docs/sandbox.md', import.meta.url), 'utf8')).toContain(
      outcomesAsMarkdown(),
    );
    expect(markdown[2]).toBe('| `completed` | `77777777-7` | `COMPLETED` | movement; it completes |');
  });
});
