import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type SandboxControl, sandboxControl } from '../../../sandbox/control-client.ts';
import { type RunningSandbox, startSandbox } from '../../../sandbox/sandbox.ts';
import { encryptedByOpenssl } from '../../../support/openssl.ts';
import { callerOf, requestFor } from '../caller.ts';
import { consentCallerOf, PERSON } from '../consent-caller.ts';

/** Refusals that arise from the state of a client with restrictions. */

let sandbox: RunningSandbox;
let control: SandboxControl;
let token: string;
beforeAll(async () => {
  // Time stands still unless a test advances it.
  sandbox = await startSandbox({ now: () => Date.parse('2026-03-31T12:00:00Z'), taskDurationMs: 3000 });
  control = sandboxControl(sandbox.baseUrl);
});
beforeEach(async () => {
  await control.reset();
  token = await callerOf(sandbox).login();
});
afterAll(() => sandbox.close());

const restrict = (restrictions: Parameters<SandboxControl['setRestrictions']>[1]) =>
  control.setRestrictions(sandbox.clientId, restrictions);
const encrypted = (username: string) =>
  encryptedByOpenssl(JSON.stringify({ username, password: 'any-password' }), token);
const postLegacy = async (username: string, action = 'demo-bank:tef') => {
  const response = await fetch(`${sandbox.baseUrl}/api/v1/tasks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ action, encryptArgs: encrypted(username) }),
  });
  const text = await response.text();
  const taskId = response.ok ? (JSON.parse(text) as { taskId: string }).taskId : undefined;
  return { status: response.status, text, taskId };
};
const endLegacy = async (username: string, action?: string): Promise<void> => {
  const { taskId = '' } = await postLegacy(username, action);
  await control.finishPolled(taskId);
};

/** Encrypted credentials expire after an hour, so a new session token encrypts the following ones. */
const advance = async (seconds: number): Promise<void> => {
  await control.advanceClock(seconds);
  token = await callerOf(sandbox).login();
};

const forbidden = { status: 403, text: "You don't have sufficient permissions to perform this action" };
const busy = { status: 429, text: 'Another request for this user is currently running' };
const overQuota = { status: 429, text: 'Request monthly quota reached (applies only to free plans)' };
const restricted = {
  status: 403,
  text: 'Username/action pair has been temporarily restricted due to multiple failed authentication attempts',
};
const taken = { status: 200 };

test('without temporary encryption, only encrypted credentials are refused', async () => {
  await restrict({ temporaryEncryption: false });
  const caller = callerOf(sandbox);
  const credentials = { mode: 'encrypted', value: encrypted('somebody') };
  const refused = await caller.start(token, requestFor('somebody', { credentials }));
  expect([refused.status, await refused.json()]).toEqual([403, { message: expect.any(String) }]);
  expect(await postLegacy('somebody')).toMatchObject(forbidden);
  expect((await caller.start(token, requestFor('somebody'))).status).toBe(200);
  await restrict({ temporaryEncryption: true });
  expect((await caller.start(token, requestFor('somebody', { credentials }))).status).toBe(200);
});

test('an entity that is not listed is refused under the restriction, and accepted without it', async () => {
  const caller = callerOf(sandbox);
  const start = async () => {
    const response = await caller.start(token, requestFor('somebody', { entity: 'elsewhere' }));
    return [response.status, ((await response.json()) as { invalid?: string[] }).invalid];
  };
  const askStatus = () =>
    consentCallerOf(sandbox).post(token, '/api/v1/users/status/by-entity', {
      entityId: 'elsewhere',
      username: 'somebody',
    });
  expect(await start()).toEqual([200, undefined]);
  expect((await askStatus()).status).toBe(200);
  await restrict({ listedEntitiesOnly: true });
  expect(await start()).toEqual([400, ['entity']]);
  expect((await askStatus()).body.invalid).toEqual(['entityId']);
  expect(JSON.parse((await postLegacy('somebody', 'elsewhere:tef')).text)).toMatchObject({
    invalid: ['action'],
  });
  expect((await caller.start(token, requestFor('somebody'))).status).toBe(200);
});

test('a second legacy start of a user is refused while a task of theirs runs, legacy or v2', async () => {
  await restrict({ oneTaskPerUser: true });
  expect(await postLegacy('first')).toMatchObject(taken);
  expect(await postLegacy('first')).toMatchObject(busy);
  expect(await postLegacy('second')).toMatchObject(taken);
  await callerOf(sandbox).startTask(requestFor('third'));
  expect(await postLegacy('third')).toMatchObject(busy);
  await control.advanceClock(3);
  expect(await postLegacy('first')).toMatchObject(taken);
  expect(await postLegacy('third')).toMatchObject(taken);
});

test('legacy starts are refused once the tasks of the month reach the quota, until the next month', async () => {
  await restrict({ tasksPerMonth: 3 });
  await callerOf(sandbox).startTask(requestFor('counted'));
  const consents = consentCallerOf(sandbox);
  const product = { product: 'movement', consentId: await consents.consent(PERSON) };
  await consents.post(await consents.taskToken(), '/api/v1/products/retrieve-data/tasks', product);
  expect(await postLegacy('counted')).toMatchObject(taken);
  expect(await postLegacy('another')).toMatchObject(overQuota);
  await advance(24 * 3600);
  expect(await postLegacy('another')).toMatchObject(taken);
});

test('a username/action pair is restricted for an hour after too many wrong logins', async () => {
  await restrict({ wrongLoginsPerHour: 2 });
  await endLegacy('completed');
  await endLegacy('completed');
  expect(await postLegacy('completed')).toMatchObject(taken);
  await endLegacy('credentials-wrong');
  expect(await postLegacy('credentials-wrong')).toMatchObject(taken);
  await control.advanceClock(3);
  expect(await postLegacy('credentials-wrong')).toMatchObject(restricted);
  expect(await postLegacy('credentials-wrong', 'demo-bank:movement')).toMatchObject(taken);
  expect(await postLegacy('credentials-wrong', 'santander:tef')).toMatchObject(taken);
  await advance(3600);
  expect(await postLegacy('credentials-wrong')).toMatchObject(taken);
});

test('refusals that arise from state are text/plain, as the presets are', async () => {
  await restrict({ tasksPerMonth: 0 });
  const post = (query: string) =>
    fetch(`${sandbox.baseUrl}/api/v1/tasks${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ action: 'demo-bank:tef', encryptArgs: encrypted('somebody') }),
    });
  const [ofState, ofPreset] = [await post(''), await post('?responseType=notEnoughCredits')];
  for (const response of [ofState, ofPreset]) {
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
  }
  expect(await ofState.text()).toBe(await ofPreset.text());
});

test('restrictions belong to one client, are shown, replaced as a whole, and lifted by a reset', async () => {
  const clientId = '00000000-0000-4000-8000-000000000002';
  await control.setClient(clientId, { apiKey: 'second-key' });
  await control.setRestrictions(clientId, { tasksPerMonth: 0 });
  expect(await postLegacy('somebody')).toMatchObject(taken);
  await restrict({ tasksPerMonth: 0, oneTaskPerUser: true });
  expect((await restrict({ oneTaskPerUser: true })).restrictions).toEqual({ oneTaskPerUser: true });
  expect(await postLegacy('another')).toMatchObject(taken);
  await control.reset();
  const { clients } = await control.summary();
  expect(clients.map(({ restrictions }) => restrictions)).toEqual([{}, {}]);
});
