import { describe, expect } from 'vitest';
import {
  decryptCredentials,
  encryptCredentials,
  InvalidProviderRequest,
  isMovementItem,
  ProviderRefused,
  productTypes,
  readTask,
  startTask,
  type TaskRequest,
} from '#lib/provider/index.ts';
import { persistCredentials } from '../../sandbox/credentials/read-credentials.ts';
import { decrypt, encrypt } from '../../sandbox/encryption-scheme.ts';
import { decryptedByOpenssl, encryptedByOpenssl } from '../support/programs/openssl.ts';
import {
  client,
  clientWith,
  connection,
  control,
  credentialsFor,
  endOf,
  extracted,
  fails,
  failureOf,
  january,
  movement,
  newUser,
  plannedUser,
  server,
  someConsent,
  someTarget,
  statement,
  statementNeeding,
  taskFor,
  taskOf,
  waiting,
  whileRestricted,
} from './server-under-test.ts';

/** Section "Resources and their fields" of the provider's API document. */

const invalid = async (request: object): Promise<readonly string[]> => {
  const failure = await failureOf(client.startTask({ ...taskOf(newUser()), ...request } as TaskRequest));
  expect(failure).toBeInstanceOf(InvalidProviderRequest);
  return (failure as InvalidProviderRequest).violations.map(({ path }) => path);
};

describe('Product identifiers', () => {
  statement('each of the 39 documented products can be requested', async () => {
    expect(productTypes).toHaveLength(39);
    const token = await client.createTaskToken(someTarget());
    const { consentId } = await control().createConsent({ owner: token.target, products: [...productTypes] });
    const taskIds = new Set<string>();
    for (const product of productTypes) {
      taskIds.add(await client.startExtraction(token, { product, consentId }));
    }
    expect(taskIds.size).toBe(39);
    const listed = (await client.listEntities()).flatMap(({ actions }) => actions);
    expect(new Set(listed.map(({ actionType }) => actionType))).toEqual(new Set(productTypes));
  });
});

describe('Consent', () => {
  statementNeeding(
    ['consent'],
    'a consent has id, products, tyc, entity, status, subStatus and validUntil',
    async () => {
      const { token, consentId, product } = await someConsent();
      const consent = await client.getConsent(token, consentId);
      expect(consent).toMatchObject({
        id: consentId,
        products: expect.arrayContaining([product]),
        tyc: { actualVersion: expect.any(Number) },
        entity: { id: expect.any(String), name: expect.any(String), type: expect.any(String) },
        status: expect.any(String),
        subStatus: expect.any(String),
      });
      expect(Date.parse(consent.validUntil)).not.toBeNaN();
    },
  );

  statement('an undocumented status is passed on unchanged, as `success` in sample responses', async () => {
    const { token, consentId } = await someConsent();
    for (const shown of [{ status: 'success' }, { status: 'SUSPENDED', subStatus: 'BY_COURT' }]) {
      await control().alterConsent(consentId, { shown });
      expect(await client.getConsent(token, consentId)).toMatchObject(shown);
    }
  });

  // Not shown: States: other transitions of a consent
  statement('subStatus has seven values, ONE_SHOT_ALREADY_USED among them', async () => {
    const { token, consentId } = await someConsent();
    const statuses = {
      ACTIVE: 'ACTIVE',
      IN_PROGRESS: 'IN_PROGRESS',
      DISCARDED: 'INACTIVE',
      EXPIRED: 'INACTIVE',
      REVOKED: 'INACTIVE',
      INVALID_PASSWORD: 'INACTIVE',
      ONE_SHOT_ALREADY_USED: 'INACTIVE',
    } as const;
    for (const subStatus of Object.keys(statuses) as (keyof typeof statuses)[]) {
      await control().alterConsent(consentId, { subStatus });
      const status = statuses[subStatus];
      expect(await client.getConsent(token, consentId)).toMatchObject({ status, subStatus });
    }
  });

  statement('subStatus may be absent in list items', async () => {
    const { token, consentId } = await someConsent();
    await control().alterConsent(consentId, { listed: { subStatus: null } });
    const [item] = (await client.listConsents(token)).consents;
    expect(item).toMatchObject({ id: consentId, status: 'ACTIVE' });
    expect(item).not.toHaveProperty('subStatus');
    expect(await client.getConsent(token, consentId)).toMatchObject({ subStatus: 'ACTIVE' });
  });

  statement('terminatedAt is present only when the consent has been terminated', async () => {
    const { token, consentId } = await someConsent();
    expect(await client.getConsent(token, consentId)).not.toHaveProperty('terminatedAt');
    await control().alterConsent(consentId, { subStatus: 'REVOKED' });
    const { terminatedAt } = await client.getConsent(token, consentId);
    expect(Date.parse(terminatedAt ?? '')).not.toBeNaN();
  });
});

describe('v1 consent-based task', () => {
  // Not shown: States: initial state of a v1 task, and order of its states
  statement('it is pending or running with code 202, then success with code 200 and results', async () => {
    const { token, order } = await someConsent('movement', { durationMs: 60_000 });
    const taskId = await client.startExtraction(token, order);
    const seen = [await client.pollExtraction(token, taskId)];
    await control().advanceClock(30);
    seen.push(await client.pollExtraction(token, taskId));
    await control().finishPolled(taskId);
    seen.push(await client.pollExtraction(token, taskId));
    expect(seen).toEqual([
      { kind: 'in-progress', taskStatus: 'pending', taskStatusCode: 202 },
      { kind: 'in-progress', taskStatus: 'running', taskStatusCode: 202 },
      { kind: 'finished', taskStatus: 'success', taskStatusCode: 200, results: expect.any(Array) },
    ]);
  });
});

describe('Product data item shapes', () => {
  statement('a movement-like item has date, amount, currency and two accounts', async () => {
    const { token, order } = await someConsent('tef');
    const { results } = await extracted(token, order);
    expect(results.length).toBeGreaterThan(0);
    for (const item of results) {
      if (!isMovementItem(item)) throw new Error('Not of the documented shape.');
      expect(item.date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    }
  });

  // Not shown: Product data: result schemas of other products
  statement('data of any other structure is passed on unchanged', async () => {
    const results = [null, 7, 'text', { deep: [{ down: true }] }];
    const { token, order } = await someConsent('movement', { results });
    expect(await extracted(token, order)).toMatchObject({ results });
  });
});

describe('v2 task', () => {
  // Not shown: Product identifiers: entity catalogue
  statementNeeding(['credentials'], 'a v2 task has a taskId, a taskStatus and results', async () => {
    const taskId = await client.startTask(taskFor('COMPLETED'));
    expect(taskId).not.toBe('');
    expect(await client.waitForTask(taskId, waiting)).toMatchObject({
      taskStatus: 'COMPLETED',
      results: { username: expect.any(String), entityId: server.entity, actions: expect.any(Array) },
    });
  });

  statement('businessId is returned only when the credentials had it', async () => {
    const { businessId, ...without } = newUser();
    const withIt = { ...without, businessId };
    for (const value of [without, withIt]) {
      const { results } = await endOf({
        ...taskOf(withIt),
        // A business bank would refuse the credentials without it.
        entity: 'demo-bank',
        credentials: { mode: 'raw', value },
      });
      expect(results?.businessId).toBe('businessId' in value ? businessId : undefined);
    }
  });

  statementNeeding(['credentials'], 'actions has one result per action, in the given order', async () => {
    const actions = [{ id: 'tef' }, ...movement, { id: 'product-balance' }];
    const { results } = await endOf(taskFor('COMPLETED', actions));
    expect(results?.actions.map(({ id }) => id)).toEqual(['tef', 'movement', 'product-balance']);
  });

  statementNeeding(
    ['outcomes'],
    'output is an object for product-balance, an array for movement, and null beside an error',
    async () => {
      const both = (await endOf(taskFor('COMPLETED_BOTH'))).results?.actions;
      expect(both?.map(({ output }) => Array.isArray(output))).toEqual([false, true]);
      expect(both?.[0]?.output).toEqual(expect.any(Object));
      for (const { status, error, output } of (await endOf(taskFor('PARTIAL'))).results?.actions ?? []) {
        if (status === 'COMPLETED') expect(error).toBeFalsy();
        else
          expect({ output, message: error?.message }).toEqual({ output: null, message: expect.any(String) });
      }
    },
  );
});

describe('v2 task request', () => {
  statement('entity, credentials and at least one action are required', async () => {
    expect(await invalid({ entity: '' })).toEqual(['entity']);
    expect(await invalid({ credentials: undefined })).toEqual(['credentials']);
    expect(await invalid({ actions: [] })).toEqual(['actions']);
  });

  statement('webhook is optional', async () => {
    const plain = taskOf(newUser());
    await client.startTask(plain);
    await client.startTask({ ...plain, webhook: { enable: false } });
    await client.startTask({ ...plain, webhook: { enable: true, retries: 5 } });
  });

  statement('movement requires params with a dateRange of two dates as YYYY-MM-DD', async () => {
    const ranged = (dateRange: object) => ({ actions: [{ id: 'movement', params: { dateRange } }] });
    expect(await invalid({ actions: [{ id: 'movement' }] })).toEqual(['actions.0.params']);
    expect(await invalid(ranged({ startDate: '2026-01-01' }))).toEqual([
      'actions.0.params.dateRange.endDate',
    ]);
    for (const startDate of ['2026-1-1', '1/1/2026', '2026-02-30', '20260101', '']) {
      expect(await invalid(ranged({ startDate, endDate: '2026-12-31' }))).toContain(
        'actions.0.params.dateRange.startDate',
      );
    }
    await client.startTask(taskOf(newUser(), movement));
  });

  statement('tef and product-balance do not accept params', async () => {
    for (const id of ['tef', 'product-balance']) {
      expect(await invalid({ actions: [{ id, params: january }] })).toEqual(['actions.0.params']);
    }
  });
});

describe('Credentials', () => {
  const outcomeOf = async (credentials: TaskRequest['credentials'], sessionToken: string) => {
    const request = { ...taskFor('PARTIAL'), credentials };
    const taskId = await startTask(connection, sessionToken, request);
    return (await client.waitForTask(taskId, waiting)).taskStatus;
  };

  statementNeeding(
    ['outcomes', 'encryption'],
    'credentials may be encrypted under the session token',
    async () => {
      const sessionToken = await client.sessionToken();
      const value = encryptCredentials(credentialsFor('PARTIAL'), sessionToken);
      expect(await outcomeOf({ mode: 'encrypted', value }, sessionToken)).toBe('PARTIAL');
    },
  );

  // Not shown: Credentials: format of persisted ciphertext
  statement('credentials may be persisted: a ciphertext whose format is not shown', async () => {
    const value = persistCredentials(credentialsFor('PARTIAL'));
    expect(await outcomeOf({ mode: 'persisted', value }, await client.sessionToken())).toBe('PARTIAL');
  });

  // Not shown: Credentials: how `mode` and value are laid out
  // Not shown: Credentials: required fields per entity
  statementNeeding(['outcomes'], 'credentials may be raw: fields of the entity', async () => {
    const value = credentialsFor('PARTIAL');
    expect(await outcomeOf({ mode: 'raw', value }, await client.sessionToken())).toBe('PARTIAL');
  });

  statement('business banking requires businessId', async () => {
    const { businessId: _, ...value } = newUser();
    const credentials = { mode: 'raw', value } as const;
    const request = { entity: 'demo-business-bank', credentials, actions: movement };
    await fails(client.startTask(request), ProviderRefused, { status: 400 });
  });
});

describe('Encryption scheme', () => {
  const token = 'a-session-token-ñ';
  const credentials = { username: 'ñandú', password: 'clave', businessId: '77777777-7' };

  statement(
    'the key is the SHA-256 of the session token: the server reads what the client wrote, if configured to encrypt',
    async () => {
      const user = newUser();
      const encrypting = clientWith({ encryptRawCredentials: true });
      const taskId = await encrypting.startTask(taskOf(user));
      expect((await encrypting.waitForTask(taskId, waiting)).results?.username).toBe(user.username);
      await client.startTask(taskOf(user));
      const calls = await control().calls({ username: user.username, method: 'POST' });
      expect(calls.map(({ credentialsMode }) => credentialsMode)).toEqual(['encrypted', 'raw']);
    },
  );

  statementNeeding([], 'the cipher is AES-256-CBC with PKCS padding and 16 random bytes of IV', async () => {
    const base64 = '(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?';
    const texts = [encryptCredentials(credentials, token), encryptCredentials(credentials, token)];
    expect(texts[0]).not.toBe(texts[1]);
    for (const text of texts) {
      expect(text).toMatch(new RegExp(`^${base64}-${base64}$`));
      expect(Buffer.from(text.split('-')[1] ?? '', 'base64')).toHaveLength(16);
      expect(JSON.parse(decryptedByOpenssl(text, token))).toEqual(credentials);
      expect(JSON.parse(decrypt(text, token) ?? 'null')).toEqual(credentials);
    }
  });

  statementNeeding([], 'the plaintext is the credentials object as JSON in UTF-8', async () => {
    const text = encryptedByOpenssl(JSON.stringify(credentials), token);
    expect(decryptCredentials(text, token)).toEqual(credentials);
    expect(decryptCredentials(encrypt(JSON.stringify(credentials), token), token)).toEqual(credentials);
  });

  statement('if it is not activated, encrypted credentials are refused', async () => {
    const encrypting = clientWith({ encryptRawCredentials: true });
    await whileRestricted({ temporaryEncryption: false }, () =>
      fails(encrypting.startTask(taskOf(newUser())), ProviderRefused, { status: 403 }),
    );
  });
});

describe('Entity listing item', () => {
  statementNeeding(
    ['presets'],
    'an entity has name, id, enabled, and actions named <entity_id>:<action_type>',
    async () => {
      const entities = await client.listEntities();
      expect(entities.length).toBeGreaterThan(0);
      for (const { id, actions } of entities) {
        for (const { name, actionType } of actions) expect(name).toBe(`${id}:${actionType}`);
      }
    },
  );
});

describe('Answers', () => {
  statement('the v2 response may change: unknown fields are passed on unchanged', async () => {
    const actions = [{ id: 'tef', status: 'COMPLETED', output: [], took: 7 }];
    const results = { username: 'somebody', entityId: 'demo-bank', page: { next: 2 }, actions };
    const user = await plannedUser({ durationMs: 0, results });
    expect(await endOf(taskOf(user, [{ id: 'tef' }]))).toEqual({ taskStatus: 'COMPLETED', results });
  });

  statement('results of another structure are distinguished from a failed call', async () => {
    const user = await plannedUser({ results: { pages: [] }, durationMs: 0 });
    const taskId = await client.startTask(taskOf(user));
    const failure = await failureOf(client.waitForTask(taskId, waiting));
    expect(failure).toMatchObject({ name: 'UnexpectedTaskResults', taskStatus: 'COMPLETED' });
    const read = await readTask(connection, await client.sessionToken(), taskId);
    expect(read).toMatchObject({ taskStatus: 'COMPLETED', results: { pages: [] } });
  });
});
