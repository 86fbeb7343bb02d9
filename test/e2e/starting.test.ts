import { randomUUID } from 'node:crypto';
import { describe, expect, inject, test } from 'vitest';
import { persistCredentials } from '../sandbox/credentials/persisted-credentials.ts';
import { encryptDelivery } from '../sandbox/webhook/encrypt-delivery.ts';
import { backdate } from './support/backdate.ts';
import { eventually } from './support/eventually.ts';
import { historyOf } from './support/execution.ts';
import {
  type Body,
  extract,
  extractionIdForKey,
  passwordSentinel,
  plannedUsername,
  provider,
  requestFor,
  startCallsOf,
  uniqueUsername,
} from './support/extractions.ts';
import { planFault } from './support/faults.ts';
import { closed, inStatus, statusesOf } from './support/records.ts';
import { secret } from './support/secrets.ts';

const { apiKey, sandboxUrl } = inject('cosecha');

const logIn = async (): Promise<string> => {
  const answer = await fetch(`${sandboxUrl}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: '{}',
  });
  return ((await answer.json()) as { token: string }).token;
};

/** Credentials encrypted by the caller, who brings the session token that keys them. */
const encryptedFor = (username: string, sessionToken: string): Body => {
  const raw = JSON.stringify({ username, password: passwordSentinel });
  const { data } = JSON.parse(encryptDelivery(raw, sessionToken)) as { data: string };
  return { credentials: { mode: 'encrypted', value: secret('credentials', data) }, sessionToken };
};

describe('when the provider is busy', () => {
  test('twice and then takes the start, exactly one task runs', async () => {
    const busy = { kind: 'answer', status: 429 } as const;
    const username = await plannedUsername({ start: [busy, busy] });
    const extractionId = await extract(requestFor(username));

    expect(await closed(extractionId)).toMatchObject({ status: 'COMPLETED' });
    expect(await startCallsOf(username)).toMatchObject([{ status: 429 }, { status: 429 }, { status: 200 }]);
    expect(await provider.tasks({ username })).toHaveLength(1);
    expect(statusesOf(extractionId)).toEqual([
      'REQUESTED',
      'STARTING',
      'REQUESTED',
      'STARTING',
      'REQUESTED',
      'STARTING',
      'RUNNING',
      'COMPLETED',
    ]);
  });
});

describe('when nobody can tell whether the start was taken', () => {
  test.for([
    ['takes the call and never answers', { kind: 'accept-then-silence' }],
    ['takes the call and answers 503', { kind: 'accept-then-answer', status: 503 }],
    ['takes the call and names no task', { kind: 'accept-then-answer', status: 200, body: {} }],
    ['takes the call and cuts the connection', { kind: 'reset', taken: true }],
    ['redirects', { kind: 'answer', status: 307, headers: { location: '/api/v2/tasks' } }],
  ] as const)('as the provider %s, it is UNCONFIRMED and never asked again', async ([, behaviour]) => {
    const username = await plannedUsername({ startForever: behaviour });
    const extractionId = await extract(requestFor(username));

    expect(await closed(extractionId)).toMatchObject({ status: 'UNCONFIRMED', settledBy: 'start' });
    await historyOf(extractionId);
    expect(await startCallsOf(username)).toHaveLength(1);
  });
});

describe('when the provider refuses', () => {
  test.for([400, 403, 404, 422])('with %i, the extraction is REJECTED', async (status) => {
    const username = await plannedUsername({ startForever: { kind: 'answer', status } });
    const extractionId = await extract(requestFor(username));

    expect(await closed(extractionId)).toMatchObject({ status: 'REJECTED', reason: `http-${status}` });
    expect(await startCallsOf(username)).toHaveLength(1);
  });
});

describe('the session token', () => {
  test('of the stack, once expired, is renewed by one login and the start made once more', async () => {
    const username = await plannedUsername({ start: [{ kind: 'expire-session' }] });
    const extractionId = await extract(requestFor(username));

    expect(await closed(extractionId)).toMatchObject({ status: 'COMPLETED' });
    const calls = await startCallsOf(username);
    expect(calls).toMatchObject([{ status: 401 }, { status: 200 }]);
    expect(calls[0]?.bearer).not.toBe(calls[1]?.bearer);
  });

  test('of the caller keys encrypted credentials, and starts the task', async () => {
    const username = uniqueUsername();
    const extractionId = await extract(requestFor(username, encryptedFor(username, await logIn())));

    expect(await closed(extractionId)).toMatchObject({ status: 'COMPLETED' });
    expect(await startCallsOf(username)).toMatchObject([{ credentialsMode: 'encrypted', status: 200 }]);
  });

  test('of the caller, once expired, makes the extraction REJECTED', async () => {
    const username = await plannedUsername({ startForever: { kind: 'expire-session' } });
    const extractionId = await extract(requestFor(username, encryptedFor(username, await logIn())));

    expect(await closed(extractionId)).toMatchObject({
      status: 'REJECTED',
      reason: 'session-token-refused',
    });
    expect(await startCallsOf(username)).toHaveLength(1);
  });
});

test('persisted credentials are passed on as they are', async () => {
  const username = uniqueUsername();
  const value = persistCredentials({ username, password: passwordSentinel });
  const extractionId = await extract(requestFor(username, { credentials: { mode: 'persisted', value } }));

  expect(await closed(extractionId)).toMatchObject({ status: 'COMPLETED' });
  expect(await startCallsOf(username)).toMatchObject([{ credentialsMode: 'persisted' }]);
});

test('a task that was started by a function that then died is told of to nobody, and not started again', async () => {
  const username = uniqueUsername();
  const idempotencyKey = randomUUID();
  const extractionId = extractionIdForKey(idempotencyKey);
  const fault = await planFault({
    operation: 'DynamoDB_20120810.UpdateItem',
    contains: [extractionId, '":status":{"S":"RUNNING"}'],
    when: 'before',
    effect: { kind: 'exit' },
  });
  await extract(requestFor(username), { idempotencyKey });
  await inStatus(extractionId, 'STARTING');
  await eventually(() => expect(fault.wasMet()).toBe(true));
  await backdate(extractionId, 'startingAt');

  expect(await closed(extractionId)).toMatchObject({ status: 'UNCONFIRMED', reason: 'start-interrupted' });
  expect(await startCallsOf(username)).toHaveLength(1);
  const [task] = await provider.tasks({ username });
  expect(task?.deliveries.at(-1)).toMatchObject({ status: 204 });
});
