import { describe, expect } from 'vitest';
import { pollExtractionV2 } from '../../lib/provider/index.ts';
import {
  client,
  clientWith,
  connection,
  control,
  lastCall,
  newUser,
  someConsent,
  statement,
  taskOf,
  waiting,
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
      await client.startLegacyTask({
        action: 'demo-bank:movement',
        credentials: { username, password },
        webhook: true,
      });
      const calls = await control().calls({ username, path: '/api/v1/tasks' });
      expect(calls).toMatchObject([{ status: 200, credentialsMode: 'encrypted' }]);
    },
  );

  statement('statuses are in upper case in v2, and in lower case in v1', ['control'], async () => {
    const { username, password, businessId } = newUser();
    const credentials = { username, password };
    const v2 = await client.waitForTask(
      await client.startTask(taskOf({ ...credentials, businessId })),
      waiting,
    );
    const legacy = await client.startLegacyTask({ action: 'demo-bank:tef', credentials });
    const v1 = await client.waitForLegacyTask(legacy, waiting);
    expect([v2.taskStatus, v1.taskStatus]).toEqual(['COMPLETED', 'success']);
  });

  statement(
    'in the v2 consent-based variant 200 on start means only that the task was created',
    ['control'],
    async () => {
      const { token, target, consentId, product } = await someConsent();
      await control().setPlan(target, { durationMs: null });
      const taskId = await client.startExtractionV2(token, { product, consentId });
      expect(await pollExtractionV2(connection, token.taskToken, taskId)).toEqual({ kind: 'in-progress' });
    },
  );

  statement(
    'the synchronous call is deprecated, and its asynchronous successor gives the same data',
    ['control'],
    async () => {
      const { token, consentId, product } = await someConsent();
      const { data } = await client.retrieveData(token, { product, consentId });
      const taskId = await client.startExtraction(token, { product, consentId });
      expect((await client.waitForExtraction(token, taskId, waiting)).results).toEqual(data);
    },
  );

  statement('ONE_SHOT_ALREADY_USED is a deprecated subStatus, and still read', ['control'], async () => {
    const { token, consentId } = await someConsent();
    await control().alterConsent(consentId, { subStatus: 'ONE_SHOT_ALREADY_USED' });
    expect(await client.getConsent(token, consentId)).toMatchObject({
      status: 'INACTIVE',
      subStatus: 'ONE_SHOT_ALREADY_USED',
    });
  });

  statement('the v2 response may change: unknown fields are passed on unchanged', ['control'], async () => {
    const user = newUser();
    const results = {
      username: user.username,
      entityId: 'demo-bank',
      page: { next: 2 },
      actions: [{ id: 'tef', status: 'COMPLETED', output: [], took: 7 }],
    };
    await control().setPlan(user.username, { durationMs: 0, results });
    const taskId = await client.startTask(taskOf(user, [{ id: 'tef' }]));
    expect(await client.waitForTask(taskId, waiting)).toEqual({ taskStatus: 'COMPLETED', results });
  });
});
