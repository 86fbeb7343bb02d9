import { describe, expect, test } from 'vitest';
import {
  type Connection,
  cacheSessionTokens,
  encryptCredentials,
  getUserStatus,
  listEntities,
  ProviderBusy,
  ProviderRefused,
  ProviderUnauthorized,
  pollLegacyTask,
  startLegacyTask,
  waitForLegacyTask,
} from '#lib/provider/index.ts';
import { answering } from '../../../support/data/canned-connection.ts';
import { errorText } from '../../../support/data/text-of-error.ts';

test('a legacy task is started with an action of an entity, and polled', async () => {
  const over = { taskStatus: 'success', taskStatusCode: 200, results: { data: [{ alias: '' }] } };
  const action = { name: 'demo-bank:tef', actionType: 'tef', enabled: true };
  const connection: Connection = {
    baseUrl: 'https://provider.example',
    fetch: async (url, { method }) => {
      if (url.endsWith('/by-entity')) return Response.json({ enabled: true });
      if (url.endsWith('/entities'))
        return Response.json([{ name: 'Demo bank', id: 'demo-bank', enabled: true, actions: [action] }]);
      return Response.json(method === 'POST' ? { taskId: 'task-1' } : over);
    },
    totalTimeoutMs: 20_000,
    maxAnswerBytes: 65_536,
  };
  expect(await listEntities(connection, 'session')).toMatchObject([{ actions: [action] }]);
  const user = { entityId: 'demo-bank', username: 'u' };
  expect(await getUserStatus(connection, 'session', user)).toEqual({ enabled: true });
  const encryptArgs = encryptCredentials({ username: 'u', password: 'p' }, 'session');
  const taskId = await startLegacyTask(connection, 'session', { action: action.name, encryptArgs });
  expect(await pollLegacyTask(connection, 'session', taskId)).toEqual({ kind: 'finished', ...over });
  const sessions = cacheSessionTokens({ logIn: async () => 'session', lifetimeMs: 1, now: () => new Date() });
  expect(await waitForLegacyTask(connection, sessions, taskId)).toMatchObject(over);
});

const secret = 'sentinel-of-a-secret';

describe('a refusal of a legacy start', () => {
  const refused = (status: number, body: string) => {
    const { connection } = answering(() => ({ status, body }));
    return startLegacyTask(connection, secret, { action: 'e:tef', encryptArgs: 'YQ==-Yg==' }).catch(
      (error: unknown) => error,
    );
  };

  // test/provider-conformance has every text.
  test.each([
    [401, 'Jwt is expired', ProviderUnauthorized, 'jwtExpired'],
    [403, "You don't have sufficient permissions to perform this action", ProviderRefused, 'forbidden'],
    [429, 'Request monthly quota reached', ProviderBusy, 'notEnoughCredits'],
  ])('%i %s is reported by the name that the document has for it', async (status, text, kind, refusal) => {
    for (const body of [text, JSON.stringify({ message: text, for: secret })]) {
      const failure = await refused(status, body);
      expect(failure).toBeInstanceOf(kind);
      expect(failure).toMatchObject({ refusal });
      expect(errorText(failure)).not.toContain(secret);
      expect(errorText(failure)).not.toContain(text);
    }
  });

  test.each([
    [403, 'Jwt is expired'],
    [429, ''],
    [500, 'Request monthly quota reached'],
  ])('%i %j has no name', async (status, body) => {
    expect(await refused(status, body)).not.toHaveProperty('refusal');
  });
});
