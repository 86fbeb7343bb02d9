import { afterAll, beforeAll, expect, test } from 'vitest';
import { nationalIdFrom, withDots } from '../../sandbox/consents/national-id.ts';
import { type SandboxControl, sandboxControl } from '../../sandbox/control-client.ts';
import { ENTITIES } from '../../sandbox/entities.ts';
import { PRODUCTS } from '../../sandbox/product-vocabulary.ts';
import { type RunningSandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { encryptedByOpenssl } from '../../support/openssl.ts';
import { BALANCE_AND_MOVEMENT, callerOf, MOVEMENT, requestFor } from './caller.ts';
import { consentCallerOf, PERSON } from './consent-caller.ts';

test.each([
  ['11.111.111-1', '11111111-1'],
  ['11111111-1', '11111111-1'],
  ['111111111', '11111111-1'],
  ['1.000.005-K', '1000005-K'],
  ['1000005k', '1000005-K'],
  ['10.000.013-K', '10000013-K'],
  ['77.777.777-7', '77777777-7'],
])('%s is the national id %s', (text, canonical) => {
  expect(nationalIdFrom(text)).toBe(canonical);
});

test.each(['', '1', '-', '11111111-2', '11.11.1111-1', '1111.1111-1', '11111111--1', ' 11111111-1', 'K-1'])(
  '"%s" is none',
  (text) => {
    expect(nationalIdFrom(text)).toBeUndefined();
  },
);

test('a national id can be written with dots', () => {
  expect(['7-6', '1000005-K', '11111111-1'].map(withDots)).toEqual(['7-6', '1.000.005-K', '11.111.111-1']);
});

/** A product that an entity's listing does not have cannot be extracted. */

let sandbox: RunningSandbox;
let control: SandboxControl;
beforeAll(async () => {
  // Time stands still unless a test advances it.
  sandbox = await startSandbox({ now: () => Date.parse('2026-03-01T12:00:00Z'), taskDurationMs: 3000 });
  control = sandboxControl(sandbox.baseUrl);
});
afterAll(() => sandbox.close());

const codesOf = (results: unknown) =>
  (results as { actions: { status: string; error?: { code: string } }[] }).actions.map(
    ({ status, error }) => error?.code ?? status,
  );

test('every documented product is listed by an entity', () => {
  const listed = new Set(ENTITIES.flatMap(({ actionTypes }) => actionTypes));
  expect(PRODUCTS.filter((product) => !listed.has(product))).toEqual([]);
});

test('a v2 task is PARTIAL if the entity has some of the actions', async () => {
  const caller = callerOf(sandbox);
  const actions = [{ id: 'tef' }, ...MOVEMENT];
  const taskId = await caller.startTask(requestFor('some', { entity: 'demo-savings-bank', actions }));
  await control.finish(taskId);
  const { taskStatus, results } = await caller.readTask(taskId);
  expect([taskStatus, codesOf(results)]).toEqual(['PARTIAL', ['ACTION_ERROR', 'COMPLETED']]);
});

test('a v2 task of which no action can run is never RUNNING and ends FAILED with full results', async () => {
  const caller = callerOf(sandbox);
  const taskId = await caller.startTask(
    requestFor('none', { entity: 'demo-service', actions: BALANCE_AND_MOVEMENT }),
  );
  await control.advanceClock(2);
  expect((await caller.readTask(taskId)).taskStatus).toBe('PENDING');
  await control.finish(taskId);
  const { taskStatus, results } = await caller.readTask(taskId);
  expect([taskStatus, codesOf(results)]).toEqual(['FAILED', ['ACTION_ERROR', 'ACTION_ERROR']]);
});

test('with a planned outcome, or an entity that is not listed, every product exists', async () => {
  const caller = callerOf(sandbox);
  await control.setPlan('ordered', { outcome: 'COMPLETED' });
  for (const request of [
    requestFor('ordered', { entity: 'demo-service' }),
    requestFor('any', { entity: 'elsewhere' }),
  ]) {
    const taskId = await caller.startTask(request);
    await control.finish(taskId);
    expect((await caller.readTask(taskId)).taskStatus).toBe('COMPLETED');
  }
});

test('a legacy task for an action that the entity does not have ends with an error', async () => {
  const token = await callerOf(sandbox).login();
  const caller = consentCallerOf(sandbox);
  const encryptArgs = encryptedByOpenssl(JSON.stringify({ username: 'legacy', password: 'x' }), token);
  const start = { action: 'demo-service:tef', encryptArgs };
  const { taskId } = (await caller.post(token, '/api/v1/tasks', start)).body;
  await control.finishPolled(taskId);
  const { status, body } = await caller.get(token, `/api/v1/tasks/${taskId}`);
  expect([status, body.taskStatus, body.taskStatusCode]).toEqual([200, 'error', 500]);
});

const unavailable = {
  status: 422,
  body: { errorType: 'PRODUCT', errorCode: 'PRODUCT_NOT_AVAILABLE', message: expect.any(String) },
};

test.each(['v1', 'v2'])(
  'a %s extraction of a product that the entity does not have ends with 422',
  async (version) => {
    const caller = consentCallerOf(sandbox);
    const token = await caller.taskToken();
    const path = `/api/${version}/products/retrieve-data/tasks`;
    const { consentId } = await control.createConsent({
      owner: PERSON,
      products: ['debt'],
      entityId: 'demo-bank',
    });
    const { status, body } = await caller.post(token, path, { product: 'debt', consentId });
    expect(status).toBe(200);
    const taskId = body.taskId ?? body.data.taskId;
    expect((await caller.get(token, `${path}/${taskId}`)).status).toBe(202);
    await control.finishPolled(taskId);
    expect(await caller.get(token, `${path}/${taskId}`)).toEqual(unavailable);
  },
);

test('the synchronous call is answered the same, and a planned result overrides the listing', async () => {
  const own = await startSandbox({ taskDurationMs: 0 });
  const caller = consentCallerOf(own);
  const itsControl = sandboxControl(own.baseUrl);
  const { consentId } = await itsControl.createConsent({
    owner: PERSON,
    products: ['debt'],
    entityId: 'demo-bank',
  });
  const retrieve = async () =>
    caller.post(await caller.taskToken(), '/api/v1/products/retrieve-data', { product: 'debt', consentId });
  expect(await retrieve()).toEqual(unavailable);
  await itsControl.setPlan(PERSON, { results: [{ planned: true }] });
  expect((await retrieve()).body).toMatchObject({ taskStatus: 'success', data: [{ planned: true }] });
  await own.close();
});

test('the page preselects the first entity with the most of the products', async () => {
  const chosen = async (more: Readonly<Record<string, unknown>>) =>
    (await control.consent((await consentCallerOf(sandbox).otp(more)).consentId)).entity.id;
  expect(await chosen({ products: ['movement', 'tef'] })).toBe('demo-bank');
  expect(await chosen({ products: ['debt', 'bill', 'movement'] })).toBe('demo-service');
  const afpOnly = { entities: { include: { types: ['afp'] } } };
  expect(await chosen({ products: ['movement'], filters: afpOnly })).toBe('demo-afp');
});
