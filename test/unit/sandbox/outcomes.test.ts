import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sandboxControl } from '../../sandbox/control-client.ts';
import { persistCredentials } from '../../sandbox/credentials/persisted-credentials.ts';
import { DEMO_BUSINESS_ID, OUTCOMES } from '../../sandbox/outcomes.ts';
import { outcomesAsMarkdown, outcomesAsText } from '../../sandbox/print-outcomes.ts';
import { type RunningSandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { encryptedByOpenssl } from '../../support/openssl.ts';
import { BALANCE_AND_MOVEMENT, callerOf, MOVEMENT, requestFor } from './caller.ts';

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

test.each(OUTCOMES.map((row) => [row.username, row.taskStatus, row] as const))(
  'the pair of %s gives %s with raw, encrypted and persisted credentials alike',
  async (username, taskStatus, row) => {
    const value = credentialsOf(username);
    const outcomes = [
      await outcomeOf({ mode: 'raw', value }),
      await outcomeOf({ mode: 'encrypted', value: encryptedByOpenssl(JSON.stringify(value), token) }),
      await outcomeOf({ mode: 'persisted', value: persistCredentials(value) }),
    ];
    for (const outcome of outcomes) {
      expect(outcome).toEqual(outcomes[0]);
      expect(outcome.taskStatus).toBe(taskStatus);
      const codes = outcome.results?.actions.map((action) => action.error?.code);
      const expected = [row.actionErrors['product-balance'], row.actionErrors.movement];
      expect(codes).toEqual(taskStatus.startsWith('CREDENTIALS_') ? undefined : expected);
    }
  },
);

test('completed results have the full structure, in the order of the request', async () => {
  const { results } = await outcomeOf({ mode: 'raw', value: credentialsOf('completed') }, [
    ...MOVEMENT,
    { id: 'product-balance' },
    { id: 'tef' },
  ]);
  expect(results).toEqual({
    username: 'completed',
    businessId: DEMO_BUSINESS_ID,
    entityId: 'demo-bank',
    actions: [
      { id: 'movement', status: 'COMPLETED', output: expect.any(Array) },
      {
        id: 'product-balance',
        status: 'COMPLETED',
        output: expect.objectContaining({ currency: 'CLP', accounts: expect.any(Array) }),
      },
      { id: 'tef', status: 'COMPLETED', output: expect.any(Array) },
    ],
  });
});

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
  expect((await datesIn('1990-01-01', '2020-01-31')).every((date) => date.startsWith('2020-01-'))).toBe(true);
  const today = new Date().toISOString().slice(0, 10);
  expect((await datesIn('2026-01-01', '2999-12-31')).every((date) => date <= today)).toBe(true);
});

test('a failed action has a null output and an error', async () => {
  const { results } = await outcomeOf({ mode: 'raw', value: credentialsOf('partial') });
  expect(results?.actions[1]).toEqual({
    id: 'movement',
    status: 'FAILED',
    output: null,
    error: { code: 'TIMEOUT_ERROR', message: expect.any(String) },
  });
});

test('credentials without businessId have the same outcomes, and results without businessId', async () => {
  const value = { username: 'partial', password: 'any-password' };
  const outcome = await outcomeOf({ mode: 'raw', value });
  expect(outcome.taskStatus).toBe('PARTIAL');
  expect(outcome.results).not.toHaveProperty('businessId');
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
