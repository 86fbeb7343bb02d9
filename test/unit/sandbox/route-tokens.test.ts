import { afterEach, beforeEach, expect, test } from 'vitest';
import { sandboxControl } from '../../sandbox/control-client.ts';
import { type RunningSandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { callerOf } from './caller.ts';
import { consentCallerOf } from './consent-caller.ts';

const UNKNOWN = '00000000-0000-4000-8000-00000000abcd';
type Kind = 'apiKey' | 'session' | 'taskToken';

let sandbox: RunningSandbox;
let credentials: Record<Kind, Record<string, string>>;
const newCredentials = async () => ({
  apiKey: { 'x-api-key': sandbox.apiKey },
  session: { authorization: `Bearer ${await callerOf(sandbox).login()}` },
  taskToken: { authorization: `Bearer ${await consentCallerOf(sandbox).taskToken()}` },
});
beforeEach(async () => {
  sandbox = await startSandbox();
  credentials = await newCredentials();
});
afterEach(() => sandbox.close());

const routes: [string, string, Kind][] = [
  ['POST', '/api/v1/auth/login', 'apiKey'],
  ['POST', '/api/v1/token/otp/create', 'apiKey'],
  ['POST', '/api/v1/token/task', 'apiKey'],
  ['GET', '/api/v1/consents', 'taskToken'],
  ['GET', `/api/v1/consents/${UNKNOWN}`, 'taskToken'],
  ['GET', `/api/v1/consents/${UNKNOWN}/pdf`, 'taskToken'],
  ['POST', '/api/v1/consents/revoke', 'taskToken'],
  ['POST', '/api/v1/products/retrieve-data/tasks', 'taskToken'],
  ['GET', `/api/v1/products/retrieve-data/tasks/${UNKNOWN}`, 'taskToken'],
  ['POST', '/api/v1/products/retrieve-data', 'taskToken'],
  ['POST', '/api/v2/products/retrieve-data/tasks', 'taskToken'],
  ['GET', `/api/v2/products/retrieve-data/tasks/${UNKNOWN}`, 'taskToken'],
  ['POST', '/api/v2/tasks', 'session'],
  ['GET', `/api/v2/tasks/${UNKNOWN}`, 'session'],
  ['POST', '/api/v1/tasks', 'session'],
  ['GET', `/api/v1/tasks/${UNKNOWN}`, 'session'],
  ['GET', '/api/v1/entities', 'session'],
  ['POST', '/api/v1/users/status/by-entity', 'session'],
];

const statusWith = async (method: string, path: string, headers: Record<string, string>) =>
  (
    await fetch(`${sandbox.baseUrl}${path}`, {
      method,
      headers,
      ...(method === 'POST' ? { body: '{}' } : {}),
    })
  ).status;

test.each(routes)('%s %s accepts the %s, and answers anything else with 401', async (method, path, kind) => {
  expect(await statusWith(method, path, credentials[kind])).not.toBe(401);
  expect(await statusWith(method, path, {})).toBe(401);
  for (const other of (['apiKey', 'session', 'taskToken'] as const).filter((each) => each !== kind)) {
    expect(await statusWith(method, path, credentials[other])).toBe(401);
  }
});

test('an OTP token is no Bearer token', async () => {
  const { otpToken } = await consentCallerOf(sandbox).otp();
  const headers = { authorization: `Bearer ${otpToken}` };
  for (const [method, path] of routes) expect(await statusWith(method, path, headers)).toBe(401);
});

test('a Task Token is valid for 60 minutes on the sandbox clock, and the control interface expires any token', async () => {
  const control = sandboxControl(sandbox.baseUrl);
  const fresh = await newCredentials();
  await control.advanceClock(3599);
  expect(await statusWith('GET', '/api/v1/consents', fresh.taskToken)).toBe(200);
  await control.advanceClock(1);
  expect(await statusWith('GET', '/api/v1/consents', fresh.taskToken)).toBe(401);

  const { session, taskToken } = await newCredentials();
  expect(await control.expireTokens({ kind: 'task' })).toEqual({ expired: 1 });
  expect(await statusWith('GET', '/api/v1/consents', taskToken)).toBe(401);
  expect(await statusWith('GET', '/api/v1/entities', session)).toBe(200);
  expect(await control.expireTokens({ clientId: sandbox.clientId })).toEqual({ expired: 1 });
  expect(await statusWith('GET', '/api/v1/entities', session)).toBe(401);
});
