import { afterAll, beforeAll, expect, test } from 'vitest';
import { nationalIdFrom } from '../../../sandbox/consents/national-id.ts';
import { type SandboxControl, sandboxControl } from '../../../sandbox/control-client.ts';
import { type RunningSandbox, startSandbox } from '../../../sandbox/sandbox.ts';
import { encryptedByOpenssl } from '../../../support/openssl.ts';
import { callerOf } from '../caller.ts';
import { consentCallerOf } from '../consent-caller.ts';

let sandbox: RunningSandbox;
let control: SandboxControl;
let caller: ReturnType<typeof consentCallerOf>;
let token: string;
beforeAll(async () => {
  sandbox = await startSandbox({ now: () => Date.parse('2026-03-01T12:00:00Z'), taskDurationMs: 3000 });
  control = sandboxControl(sandbox.baseUrl);
  caller = consentCallerOf(sandbox);
  token = await callerOf(sandbox).login();
});
afterAll(() => sandbox.close());

const request = (username: string, action = 'demo-bank:tef') => ({
  action,
  encryptArgs: encryptedByOpenssl(JSON.stringify({ username, password: 'any-password' }), token),
});
const start = async (username: string, action?: string): Promise<string> =>
  (await caller.post(token, '/api/v1/tasks', request(username, action))).body.taskId;
type Poll = {
  readonly taskStatus: string;
  readonly taskStatusCode: number;
  readonly results: { readonly data: readonly Readonly<Record<string, string>>[] };
};
const poll = (taskId: string) => caller.get<Poll>(token, `/api/v1/tasks/${taskId}`);

test('a legacy task is in progress with 202, then a success with its results', async () => {
  const taskId = await start('completed');
  expect(await poll(taskId)).toEqual({ status: 202, body: { taskStatus: 'pending', taskStatusCode: 202 } });
  await control.finishPolled(taskId);
  const { status, body } = await poll(taskId);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    taskStatus: 'success',
    taskStatusCode: 200,
    results: { username: 'completed', entityId: 'demo-bank' },
  });
  expect(Object.keys(body.results.data[0] ?? {})).toEqual([
    'name',
    'rut',
    'bankName',
    'bankCode',
    'accountNumber',
    'accountType',
    'email',
    'alias',
  ]);
});

test.each([
  ['credentials-wrong', 'wrong_login', 401],
  ['credentials-locked', 'locked', 401],
  ['failed', 'error', 500],
  ['entity-api-error', 'error', 500],
])('the outcome table holds for legacy tasks: %s ends %s', async (username, taskStatus, taskStatusCode) => {
  const taskId = await start(username);
  await control.finishPolled(taskId);
  expect(await poll(taskId)).toEqual({ status: 200, body: { taskStatus, taskStatusCode, results: {} } });
});

test('a plan chooses duration, outcome and misbehaviour of legacy tasks', async () => {
  await control.setPlan('planned', {
    durationMs: 0,
    outcome: 'CREDENTIALS_LOCKED',
    start: [{ kind: 'answer', status: 503 }],
  });
  expect((await caller.post(token, '/api/v1/tasks', request('planned'))).status).toBe(503);
  expect((await poll(await start('planned'))).body.taskStatus).toBe('locked');
});

test.each<[string, Record<string, unknown>, string]>([
  ['no action', { action: undefined }, 'action'],
  ['an action without entity', { action: ':tef' }, 'action'],
  ['an unknown action type', { action: 'demo-bank:gold' }, 'action'],
  ['no credentials', { encryptArgs: undefined }, 'encryptArgs'],
  ['credentials that are not encrypted', { encryptArgs: 'abc' }, 'encryptArgs'],
  ['no businessId for a business bank', { action: 'demo-business-bank:tef' }, 'encryptArgs'],
  ['a webhook object', { webhook: { enable: true } }, 'webhook'],
])('a legacy start with %s is answered with 400 and names the place', async (_, more, place) => {
  const { status, body } = await caller.post(token, '/api/v1/tasks', { ...request('x'), ...more });
  expect([status, body.invalid]).toEqual([400, [place]]);
});

test('credentials under another session token are refused, and a boolean webhook is accepted', async () => {
  const mine = request('somebody');
  const other = await callerOf(sandbox).login();
  expect((await caller.post(other, '/api/v1/tasks', mine)).status).toBe(400);
  expect((await caller.post(token, '/api/v1/tasks', { ...mine, webhook: true })).status).toBe(200);
});

test.each([
  ['jwtExpired', 401, 'Jwt is expired'],
  [
    'temporarilyRestricted',
    403,
    'Username/action pair has been temporarily restricted due to multiple failed authentication attempts',
  ],
  ['forbidden', 403, "You don't have sufficient permissions to perform this action"],
  ['processAlreadyRunning', 429, 'Another request for this user is currently running'],
  ['notEnoughCredits', 429, 'Request monthly quota reached (applies only to free plans)'],
])('POST /api/v1/tasks with %s answers %i and its text', async (responseType, status, text) => {
  const response = await fetch(`${sandbox.baseUrl}/api/v1/tasks?responseType=${responseType}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(request('preset')),
  });
  expect([response.status, await response.text()]).toEqual([status, text]);
});

test.each([
  ['successWrongLoginResults', 'wrong_login', 401],
  ['successLockedResults', 'locked', 401],
  ['successErrorResults', 'error', 500],
])(
  'GET /api/v1/tasks/{taskId} with %s answers 200 and %s',
  async (responseType, taskStatus, taskStatusCode) => {
    expect(await poll(`any?responseType=${responseType}`)).toEqual({
      status: 200,
      body: { taskStatus, taskStatusCode, results: {} },
    });
  },
);

const presetData = async (responseType: string, taskId = 'any'): Promise<Poll['results']['data']> => {
  const { status, body } = await poll(`${taskId}?responseType=${responseType}`);
  expect([status, body.taskStatus, body.taskStatusCode]).toEqual([200, 'success', 200]);
  expect(Object.keys(body.results)).toEqual(['username', 'entityId', 'data']);
  return body.results.data;
};

test('the TEF presets: empty data, empty alias, unformatted, invalid and empty ids', async () => {
  expect(await presetData('successEmptyResults')).toEqual([]);
  expect((await presetData('successEmptyAlias')).map(({ alias }) => alias)).toEqual(['', '']);
  const ids = async (preset: string) => (await presetData(preset)).map(({ rut = '' }) => rut);
  const unformatted = await ids('tefWithValidRutWrongFormat');
  expect(unformatted.every((rut) => /^\d+$/.test(rut) && nationalIdFrom(rut) !== undefined)).toBe(true);
  const invalid = await ids('tefWithInvalidRut');
  expect(invalid.every((rut) => rut !== '' && nationalIdFrom(rut) === undefined)).toBe(true);
  expect(await ids('tefWithEmptyRut')).toEqual(['']);
});

test('a preset for an own task has its username and entity', async () => {
  const taskId = await start('owner-of-it', 'santander:tef');
  const { body } = await poll(`${taskId}?responseType=successEmptyResults`);
  expect(body.results).toEqual({ username: 'owner-of-it', entityId: 'santander', data: [] });
});

type Listed = {
  readonly id: string;
  readonly enabled: boolean;
  readonly actions: readonly {
    readonly name: string;
    readonly actionType: string;
    readonly enabled: boolean;
  }[];
};

test('the entities are listed with their actions, all enabled', async () => {
  const { status, body } = await caller.get<readonly Listed[]>(token, '/api/v1/entities');
  expect(status).toBe(200);
  for (const { id, enabled, actions } of body) {
    expect(enabled).toBe(true);
    for (const action of actions) {
      expect(action).toEqual({
        name: `${id}:${action.actionType}`,
        actionType: action.actionType,
        enabled: true,
      });
    }
  }
});

test('disabledSantander disables one entity, disabledSantanderTef only its transfers', async () => {
  const listed = async (preset: string): Promise<readonly Listed[]> =>
    (await caller.get<readonly Listed[]>(token, `/api/v1/entities?responseType=${preset}`)).body;
  const disabledIn = (entities: readonly Listed[]) => entities.filter(({ enabled }) => !enabled);
  expect(disabledIn(await listed('disabledSantander')).map(({ id }) => id)).toEqual(['santander']);
  const entities = await listed('disabledSantanderTef');
  expect(disabledIn(entities)).toEqual([]);
  const actions = entities.flatMap(({ id, actions: its }) => its.map((action) => ({ id, ...action })));
  expect(actions.filter(({ enabled }) => !enabled)).toMatchObject([{ id: 'santander', actionType: 'tef' }]);
});

test('a user is enabled, disabled by the preset, and disabled if the credentials are locked', async () => {
  const status = (username: string, query = '') =>
    caller.post(token, `/api/v1/users/status/by-entity${query}`, { entityId: 'demo-bank', username });
  const enabled = { enabled: true, retryAfter: '2026-03-01T12:00:00.000Z' };
  const disabled = { enabled: false, retryAfter: '2026-03-01T13:00:00.000Z' };
  expect(await status('somebody')).toEqual({ status: 200, body: enabled });
  expect(await status('somebody', '?responseType=disabledUsername')).toEqual({ status: 200, body: disabled });
  expect(await status('credentials-locked')).toEqual({ status: 200, body: disabled });
  expect((await status('')).body.invalid).toEqual(['username']);
});

test('an unknown responseType is refused', async () => {
  for (const path of ['/api/v1/entities', '/api/v1/tasks/any']) {
    const { status, body } = await caller.get(token, `${path}?responseType=unheardOf`);
    expect([status, body.invalid]).toEqual([400, ['responseType']]);
  }
});

test('only the client that started a legacy task may read it', async () => {
  const taskId = await start('mine');
  const clientId = '00000000-0000-4000-8000-000000000002';
  await control.setClient(clientId, { apiKey: 'second-key' });
  const second = await callerOf({ baseUrl: sandbox.baseUrl, apiKey: 'second-key' }).login();
  expect((await caller.get(second, `/api/v1/tasks/${taskId}`)).status).toBe(403);
});
