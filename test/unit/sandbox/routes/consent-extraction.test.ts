import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SandboxControl, sandboxControl } from '../../../sandbox/control-client.ts';
import { type RunningSandbox, startSandbox } from '../../../sandbox/sandbox.ts';
import { consentCallerOf, OTHER_PERSON, PERSON } from '../consent-caller.ts';

const V1 = '/api/v1/products/retrieve-data/tasks';
const V2 = '/api/v2/products/retrieve-data/tasks';
const SYNC = '/api/v1/products/retrieve-data';

let sandbox: RunningSandbox;
let control: SandboxControl;
let caller: ReturnType<typeof consentCallerOf>;
let token: string;
beforeAll(async () => {
  // Time stands still unless a test advances it.
  sandbox = await startSandbox({ now: () => Date.parse('2026-03-01T12:00:00Z'), taskDurationMs: 3000 });
  control = sandboxControl(sandbox.baseUrl);
  caller = consentCallerOf(sandbox);
  token = await caller.taskToken();
});
afterAll(() => sandbox.close());

const movement = {
  date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
  amount: expect.any(Number),
  currency: 'CLP',
  originAccount: expect.any(String),
  destinationAccount: expect.any(String),
};

test('a v1 extraction is pending, then running, with 202, then a success with results', async () => {
  const consentId = await caller.consent();
  const started = await caller.post(token, V1, { product: 'movement', consentId });
  expect(started).toEqual({ status: 200, body: { taskId: expect.any(String) } });
  const poll = () => caller.get(token, `${V1}/${started.body.taskId}`);
  expect(await poll()).toEqual({ status: 202, body: { taskStatus: 'pending', taskStatusCode: 202 } });
  await control.advanceClock(1);
  expect(await poll()).toEqual({ status: 202, body: { taskStatus: 'running', taskStatusCode: 202 } });
  await control.advanceClock(2);
  const { status, body } = await poll();
  expect([status, body.taskStatus, body.taskStatusCode]).toEqual([200, 'success', 200]);
  expect(body.results).toContainEqual(movement);
});

test('a v2 consent-based extraction wraps taskId and data in data', async () => {
  const consentId = await caller.consent(PERSON, ['tef']);
  const started = await caller.post(token, V2, { product: 'tef', consentId });
  expect(started).toEqual({ status: 200, body: { data: { taskId: expect.any(String) } } });
  const { taskId } = started.body.data;
  expect((await caller.get(token, `${V2}/${taskId}`)).status).toBe(202);
  await control.finishPolled(taskId);
  expect(await caller.get(token, `${V2}/${taskId}`)).toEqual({
    status: 200,
    body: { data: [movement, movement, movement] },
  });
  // A version does not find the tasks of the other.
  expect((await caller.get(token, `${V1}/${taskId}`)).status).toBe(404);
});

test('the deprecated synchronous call takes as long as a task, and has data', async () => {
  const consentId = await caller.consent(PERSON, ['debt']);
  const answer = caller.post(token, SYNC, { product: 'debt', consentId });
  await control.waitForEvent('call-received', ({ call }) => call.consentId === consentId);
  await control.advanceClock(3);
  expect(await answer).toEqual({
    status: 200,
    body: {
      taskStatus: 'success',
      taskStatusCode: 200,
      data: [expect.objectContaining({ product: 'debt' })],
    },
  });
});

test.each([V1, V2, SYNC])('%s is refused unless the consent is active and has the product', async (path) => {
  const consentId = await caller.consent();
  const refusal = async (body: unknown) => {
    const { status, body: answer } = await caller.post(token, path, body);
    return [status, answer.errorType, answer.errorCode ?? answer.invalid];
  };
  const product = 'movement';
  expect(await refusal({ product: 'tef', consentId })).toEqual([403, 'CONSENT', 'PRODUCT_NOT_AUTHORIZED']);
  expect(await refusal({ product: 'gold', consentId })).toEqual([400, 'INVALID_REQUEST', ['product']]);
  expect(await refusal({ product: [product], consentId })).toEqual([400, 'INVALID_REQUEST', ['product']]);
  const foreign = await caller.consent(OTHER_PERSON);
  expect(await refusal({ product, consentId: foreign })).toEqual([404, 'CONSENT', 'CONSENT_NOT_FOUND']);
  const notActive = [403, 'CONSENT', 'CONSENT_NOT_ACTIVE'];
  expect(await refusal({ product, consentId: (await caller.otp()).consentId })).toEqual(notActive);
  await caller.post(token, '/api/v1/consents/revoke', { consentId });
  expect(await refusal({ product, consentId })).toEqual(notActive);
});

test('another user’s Task Token cannot read a task', async () => {
  const consentId = await caller.consent();
  const { taskId } = (await caller.post(token, V1, { product: 'movement', consentId })).body;
  expect((await caller.get(await caller.taskToken(OTHER_PERSON), `${V1}/${taskId}`)).status).toBe(404);
});

test('a plan sets the duration, data, failure and misbehaviour of the owner’s extractions', async () => {
  const owner = '44444444-4';
  const itsToken = await caller.taskToken(owner);
  const consentId = await caller.consent(owner);
  const start = (path: string) => caller.post(itsToken, path, { product: 'movement', consentId });

  await control.setPlan(owner, { durationMs: 0, results: [{ odd: true }] });
  const first = (await start(V1)).body.taskId;
  expect((await caller.get(itsToken, `${V1}/${first}`)).body.results).toEqual([{ odd: true }]);

  const failure = { status: 502, errorType: 'ENTITY', errorCode: 'ENTITY_DOWN' };
  await control.setPlan(owner, { durationMs: 0, failure, start: [{ kind: 'answer', status: 429 }] });
  expect((await start(V2)).status).toBe(429);
  const { taskId } = (await start(V2)).body.data;
  expect(await caller.get(itsToken, `${V2}/${taskId}`)).toEqual({
    status: 502,
    body: { errorType: 'ENTITY', errorCode: 'ENTITY_DOWN', message: expect.any(String) },
  });

  await control.setPlan(owner, { durationMs: null, read: [{ kind: 'expire-session' }] });
  const endless = (await start(V1)).body.taskId;
  await control.advanceClock(1000);
  expect((await caller.get(itsToken, `${V1}/${endless}`)).status).toBe(401);
  expect((await caller.get(itsToken, `${V1}/${endless}`)).status).toBe(401);
  const renewed = await caller.taskToken(owner);
  expect((await caller.get(renewed, `${V1}/${endless}`)).body.taskStatus).toBe('running');
  expect(await control.polledTasks({ username: owner })).toHaveLength(3);
});

test('a taskId can be read for seven days', async () => {
  const taskLife = await startSandbox({ taskDurationMs: 0, taskTokenLifeMs: 30 * 24 * 3600_000 });
  const its = consentCallerOf(taskLife);
  const itsToken = await its.taskToken();
  const consentId = await its.consent();
  const { taskId } = (await its.post(itsToken, V1, { product: 'movement', consentId })).body;
  expect((await its.get(itsToken, `${V1}/${taskId}`)).status).toBe(200);
  await sandboxControl(taskLife.baseUrl).advanceClock(7 * 24 * 3600);
  expect((await its.get(itsToken, `${V1}/${taskId}`)).status).toBe(404);
  await taskLife.close();
});
