import { describe, expect } from 'vitest';
import { pollExtractionV2 } from '../../lib/provider/index.ts';
import {
  client,
  clientWith,
  connection,
  control,
  endOf,
  extracted,
  lastCall,
  legacyEndOf,
  newUser,
  plannedUser,
  someConsent,
  statement,
  taskOf,
} from './server-under-test.ts';

/** Section "Versioning" of the provider's API document. */

describe('Rules', () => {
  statement('the version is part of the path, and one login serves both', ['control'], async () => {
    const own = clientWith();
    const before = (await control().calls({ path: '/api/v1/auth/login' })).length;
    await own.startTask(taskOf(newUser()));
    await own.listEntities();
    expect(await lastCall('/api/v2/tasks')).toMatchObject({ method: 'POST' });
    expect(await lastCall('/api/v1/entities')).toMatchObject({ method: 'GET' });
    expect(await control().calls({ path: '/api/v1/auth/login' })).toHaveLength(before + 1);
  });

  statement(
    'v2 has its entity apart, credentials with a mode, several actions and a webhook object',
    ['control'],
    async () => {
      const user = newUser();
      const webhook = { enable: true, retries: 2 };
      await client.startTask({ ...taskOf(user), webhook });
      const calls = await control().calls({ username: user.username, path: '/api/v2/tasks' });
      expect(calls).toMatchObject([{ credentialsMode: 'raw', webhook }]);
    },
  );

  statement(
    'v1 has entity and action in one string, encrypted credentials and a boolean webhook',
    ['control'],
    async () => {
      const { username, password } = newUser();
      const credentials = { username, password };
      await client.startLegacyTask({ action: 'demo-bank:movement', credentials, webhook: true });
      const calls = await control().calls({ username, path: '/api/v1/tasks' });
      expect(calls).toMatchObject([{ status: 200, credentialsMode: 'encrypted' }]);
    },
  );

  statement('statuses are in upper case in v2, and in lower case in v1', ['control'], async () => {
    const credentials = newUser();
    const v2 = await endOf(taskOf(credentials));
    const v1 = await legacyEndOf({ action: 'demo-bank:tef', credentials });
    expect([v2.taskStatus, v1.taskStatus]).toEqual(['COMPLETED', 'success']);
  });

  statement(
    'in the v2 consent-based variant 200 on start means only that the task was created',
    ['control'],
    async () => {
      const { token, order } = await someConsent('movement', { durationMs: null });
      const taskId = await client.startExtractionV2(token, order);
      expect(await pollExtractionV2(connection, token.taskToken, taskId)).toEqual({ kind: 'in-progress' });
    },
  );

  statement(
    'the synchronous call is deprecated, and its asynchronous successor gives the same data',
    ['control'],
    async () => {
      const { token, order } = await someConsent();
      const { data } = await client.retrieveData(token, order);
      expect((await extracted(token, order)).results).toEqual(data);
    },
  );

  statement('ONE_SHOT_ALREADY_USED is a deprecated subStatus, and still read', ['control'], async () => {
    const { token, consentId } = await someConsent();
    const subStatus = 'ONE_SHOT_ALREADY_USED';
    await control().alterConsent(consentId, { subStatus });
    expect(await client.getConsent(token, consentId)).toMatchObject({ status: 'INACTIVE', subStatus });
  });

  statement('the v2 response may change: unknown fields are passed on unchanged', ['control'], async () => {
    const actions = [{ id: 'tef', status: 'COMPLETED', output: [], took: 7 }];
    const results = { username: 'somebody', entityId: 'demo-bank', page: { next: 2 }, actions };
    const user = await plannedUser({ durationMs: 0, results });
    expect(await endOf(taskOf(user, [{ id: 'tef' }]))).toEqual({ taskStatus: 'COMPLETED', results });
  });
});
