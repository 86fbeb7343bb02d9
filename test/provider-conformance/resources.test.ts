import { describe, expect } from 'vitest';
import {
  decryptCredentials,
  encryptCredentials,
  InvalidProviderRequest,
  isMovementItem,
  isTefRecipient,
  type ProductType,
  ProviderRefused,
  productTypes,
  readTask,
  startTask,
  type TaskRequest,
} from '../../lib/provider/index.ts';
import {
  decryptCredentials as decryptedBySandbox,
  persistCredentials,
} from '../../sandbox/credentials/read-credentials.ts';
import { encryptDelivery } from '../../sandbox/webhook/make-delivery.ts';
import { decryptedByOpenssl, encryptedByOpenssl } from '../support/programs/openssl.ts';
import {
  client,
  clientWith,
  connection,
  control,
  credentialsFor,
  endOf,
  extracted,
  extractedV2,
  fails,
  failureOf,
  january,
  movement,
  newUser,
  otpRequest,
  plannedUser,
  server,
  someConsent,
  someTarget,
  statement,
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
  statement('each of the 39 documented products can be requested', ['control'], async () => {
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

  statement('the client refuses a product that is not listed', ['control'], async () => {
    const { token, consentId } = await someConsent();
    const product = 'no-such-product' as ProductType;
    await fails(client.startExtraction(token, { product, consentId }), InvalidProviderRequest);
  });

  statement('v2 actions are movement, product-balance and tef', ['credentials'], async () => {
    const actions = [{ id: 'movement', params: january }, { id: 'product-balance' }, { id: 'tef' }];
    const { results } = await endOf(taskFor('COMPLETED', actions));
    expect(results?.actions.map(({ id }) => id)).toEqual(['movement', 'product-balance', 'tef']);
    expect(await invalid({ actions: [{ id: 'bill' }] })).toEqual(['actions.0.id']);
  });
});

describe('Entity types', () => {
  statement('each of the six entity types can be a filter of an OTP token', ['widget'], async () => {
    const types = ['bank', 'business-bank', 'government', 'service', 'afp', 'exchange'] as const;
    for (const type of types) {
      await client.createOtpToken({ ...otpRequest(), filters: { entities: { include: { types: [type] } } } });
    }
  });
});

describe('Consent', () => {
  statement(
    'a consent has id, products, tyc, entity, status, subStatus and validUntil',
    ['consent'],
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

  statement('status is ACTIVE, IN_PROGRESS or INACTIVE', ['control'], async () => {
    const { token, consentId } = await someConsent();
    const statuses: string[] = [];
    for (const subStatus of ['ACTIVE', 'IN_PROGRESS', 'DISCARDED'] as const) {
      await control().alterConsent(consentId, { subStatus });
      statuses.push((await client.getConsent(token, consentId)).status);
    }
    expect(statuses).toEqual(['ACTIVE', 'IN_PROGRESS', 'INACTIVE']);
  });

  statement('status may be `success`, as in sample responses', ['control'], async () => {
    const { token, consentId } = await someConsent();
    await control().alterConsent(consentId, { shown: { status: 'success' } });
    expect(await client.getConsent(token, consentId)).toMatchObject({ status: 'success' });
  });

  statement('an undocumented status is passed on unchanged', ['control'], async () => {
    const { token, consentId } = await someConsent();
    const shown = { status: 'SUSPENDED', subStatus: 'BY_COURT' };
    await control().alterConsent(consentId, { shown });
    expect(await client.getConsent(token, consentId)).toMatchObject(shown);
  });

  statement('subStatus has seven values, ONE_SHOT_ALREADY_USED among them', ['control'], async () => {
    const { token, consentId } = await someConsent();
    const all = [
      'EXPIRED',
      'REVOKED',
      'DISCARDED',
      'IN_PROGRESS',
      'INVALID_PASSWORD',
      'ACTIVE',
      'ONE_SHOT_ALREADY_USED',
    ] as const;
    for (const subStatus of all) {
      await control().alterConsent(consentId, { subStatus });
      expect(await client.getConsent(token, consentId)).toMatchObject({ subStatus });
    }
  });

  statement('subStatus may be absent in list items', ['control'], async () => {
    const { token, consentId } = await someConsent();
    await control().alterConsent(consentId, { listed: { subStatus: null } });
    const [item] = (await client.listConsents(token)).consents;
    expect(item).toMatchObject({ id: consentId, status: 'ACTIVE' });
    expect(item).not.toHaveProperty('subStatus');
    expect(await client.getConsent(token, consentId)).toMatchObject({ subStatus: 'ACTIVE' });
  });

  statement('terminatedAt is present only when the consent has been terminated', ['control'], async () => {
    const { token, consentId } = await someConsent();
    expect(await client.getConsent(token, consentId)).not.toHaveProperty('terminatedAt');
    await control().alterConsent(consentId, { subStatus: 'REVOKED' });
    const { terminatedAt } = await client.getConsent(token, consentId);
    expect(Date.parse(terminatedAt ?? '')).not.toBeNaN();
  });
});

describe('OTP token record', () => {
  statement('an OTP token is a JWT, and comes with the consent of its session', ['widget'], async () => {
    const { otpToken, consentId } = await client.createOtpToken(otpRequest());
    expect(otpToken.split('.')).toHaveLength(3);
    expect(consentId).not.toBe('');
  });
});

describe('Task Token', () => {
  statement('a Task Token is a JWT tied to one user identifier', ['target'], async () => {
    const target = someTarget();
    const token = await client.createTaskToken(target);
    expect(token.target).toBe(target);
    expect(token.taskToken.split('.')).toHaveLength(3);
  });
});

describe('v1 consent-based task', () => {
  statement('its taskId is a string of 1 to 100 characters', ['consent'], async () => {
    const { token, order } = await someConsent();
    const taskId = await client.startExtraction(token, order);
    expect(taskId.length).toBeGreaterThanOrEqual(1);
    expect(taskId.length).toBeLessThanOrEqual(100);
  });

  statement(
    'it is pending or running with code 202, then success with code 200 and results',
    ['control'],
    async () => {
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
    },
  );

  statement('the synchronous and the v2 variant have their data in `data`', ['consent'], async () => {
    const { token, order } = await someConsent();
    expect((await client.retrieveData(token, order)).data).toBeInstanceOf(Array);
    expect((await extractedV2(token, order)).data).toBeInstanceOf(Array);
  });
});

describe('Product data item shapes', () => {
  statement('a movement-like item has date, amount, currency and two accounts', ['control'], async () => {
    const { token, order } = await someConsent('tef');
    const { results } = await extracted(token, order);
    expect(results.length).toBeGreaterThan(0);
    for (const item of results) {
      if (!isMovementItem(item)) throw new Error('Not of the documented shape.');
      expect(item.date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    }
  });

  statement('a sandbox TEF recipient item has eight strings', ['presets'], async () => {
    const { results } = await client.pollLegacyTask('any', { responseType: 'successEmptyAlias' });
    expect(results?.data?.length).toBeGreaterThan(0);
    expect(results?.data?.every(isTefRecipient)).toBe(true);
  });

  statement('data of any other structure is passed on unchanged', ['control'], async () => {
    const results = [null, 7, 'text', { deep: [{ down: true }] }];
    const { token, order } = await someConsent('movement', { results });
    expect(await extracted(token, order)).toMatchObject({ results });
  });
});

describe('v2 task', () => {
  statement('a v2 task has a taskId, a taskStatus and results', ['credentials'], async () => {
    const taskId = await client.startTask(taskFor('COMPLETED'));
    expect(taskId).not.toBe('');
    expect(await client.waitForTask(taskId, waiting)).toMatchObject({
      taskStatus: 'COMPLETED',
      results: { username: expect.any(String), entityId: server.entity, actions: expect.any(Array) },
    });
  });

  statement('results is null for CREDENTIALS_WRONG and CREDENTIALS_LOCKED', ['outcomes'], async () => {
    for (const taskStatus of ['CREDENTIALS_WRONG', 'CREDENTIALS_LOCKED'] as const) {
      expect(await endOf(taskFor(taskStatus))).toEqual({ taskStatus, results: null });
    }
  });

  statement('businessId is returned only when the credentials had it', ['control'], async () => {
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

  statement('actions has one result per action, in the given order', ['control'], async () => {
    const actions = [{ id: 'tef' }, ...movement, { id: 'product-balance' }];
    const { results } = await endOf(taskOf(newUser(), actions));
    expect(results?.actions.map(({ id }) => id)).toEqual(['tef', 'movement', 'product-balance']);
  });

  statement(
    'output is an object for product-balance and an array for movement',
    ['credentials'],
    async () => {
      const { results } = await endOf(taskFor('COMPLETED'));
      const [balance, movements] = results?.actions ?? [];
      expect(Array.isArray(balance?.output)).toBe(false);
      expect(balance?.output).toBeTypeOf('object');
      expect(movements?.output).toBeInstanceOf(Array);
    },
  );

  statement(
    'an action is COMPLETED or FAILED; error is present if and only if it FAILED',
    ['outcomes'],
    async () => {
      const { results } = await endOf(taskFor('PARTIAL'));
      const actions = results?.actions ?? [];
      expect(actions.map(({ status }) => status).sort()).toEqual(['COMPLETED', 'FAILED']);
      for (const action of actions) expect(action.error != null).toBe(action.status === 'FAILED');
    },
  );

  statement(
    'output is null when no data was delivered; error has a code and a message',
    ['outcomes'],
    async () => {
      const { results } = await endOf(taskFor('PARTIAL'));
      const failed = results?.actions.find(({ status }) => status === 'FAILED');
      expect(failed?.output).toBeNull();
      expect(failed?.error?.code).toMatch(/^[A-Z][A-Z_]*$/);
      expect(failed?.error?.message).toBeTypeOf('string');
    },
  );
});

describe('v2 task request', () => {
  statement('entity, credentials and at least one action are required', ['control'], async () => {
    expect(await invalid({ entity: '' })).toEqual(['entity']);
    expect(await invalid({ credentials: undefined })).toEqual(['credentials']);
    expect(await invalid({ actions: [] })).toEqual(['actions']);
  });

  statement('webhook is optional', ['control'], async () => {
    const plain = taskOf(newUser());
    await client.startTask(plain);
    await client.startTask({ ...plain, webhook: { enable: false } });
    await client.startTask({ ...plain, webhook: { enable: true, retries: 5 } });
  });

  statement('movement requires params with a dateRange of two dates as YYYY-MM-DD', ['control'], async () => {
    const ranged = (dateRange: object) => ({ actions: [{ id: 'movement', params: { dateRange } }] });
    expect(await invalid({ actions: [{ id: 'movement' }] })).toEqual(['actions.0.params']);
    expect(await invalid(ranged({ startDate: '2026-01-01' }))).toEqual([
      'actions.0.params.dateRange.endDate',
    ]);
    expect(await invalid(ranged({ startDate: '1/1/2026', endDate: '2026-01-31' }))).toEqual([
      'actions.0.params.dateRange.startDate',
    ]);
    await client.startTask(taskOf(newUser(), movement));
  });

  statement('tef and product-balance do not accept params', ['control'], async () => {
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

  statement('credentials may be encrypted under the session token', ['outcomes', 'encryption'], async () => {
    const sessionToken = await client.sessionToken();
    const value = encryptCredentials(credentialsFor('PARTIAL'), sessionToken);
    expect(await outcomeOf({ mode: 'encrypted', value }, sessionToken)).toBe('PARTIAL');
  });

  statement('credentials may be persisted: a ciphertext whose format is not shown', ['control'], async () => {
    const value = persistCredentials(credentialsFor('PARTIAL'));
    expect(await outcomeOf({ mode: 'persisted', value }, await client.sessionToken())).toBe('PARTIAL');
  });

  statement('credentials may be raw: fields of the entity', ['outcomes'], async () => {
    const value = credentialsFor('PARTIAL');
    expect(await outcomeOf({ mode: 'raw', value }, await client.sessionToken())).toBe('PARTIAL');
  });

  statement('business banking requires businessId', ['control'], async () => {
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
    'the key is the SHA-256 of the session token: the server reads what the client wrote',
    ['control'],
    async () => {
      const user = newUser();
      const encrypting = clientWith({ encryptRawCredentials: true });
      const taskId = await encrypting.startTask(taskOf(user));
      expect((await encrypting.waitForTask(taskId, waiting)).results?.username).toBe(user.username);
      const calls = await control().calls({ username: user.username, method: 'POST' });
      expect(calls.map(({ credentialsMode }) => credentialsMode)).toEqual(['encrypted']);
    },
  );

  statement('the cipher is AES-256-CBC with PKCS padding and 16 random bytes of IV', [], async () => {
    const texts = [encryptCredentials(credentials, token), encryptCredentials(credentials, token)];
    expect(texts[0]).not.toBe(texts[1]);
    for (const text of texts) {
      expect(Buffer.from(text.split('-')[1] ?? '', 'base64')).toHaveLength(16);
      expect(JSON.parse(decryptedByOpenssl(text, token))).toEqual(credentials);
      expect(JSON.parse(decryptedBySandbox(text, token) ?? 'null')).toEqual(credentials);
    }
  });

  statement('the plaintext is the credentials object as JSON in UTF-8', [], async () => {
    const text = encryptedByOpenssl(JSON.stringify(credentials), token);
    expect(decryptCredentials(text, token)).toEqual(credentials);
    const { data } = JSON.parse(encryptDelivery(JSON.stringify(credentials), token)) as { data: string };
    expect(decryptCredentials(data, token)).toEqual(credentials);
  });

  statement('the output is base64(ciphertext), a hyphen and base64(IV)', [], async () => {
    const base64 = '(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?';
    expect(encryptCredentials(credentials, token)).toMatch(new RegExp(`^${base64}-${base64}$`));
  });

  statement(
    'it is for sending only and has to be activated: the client encrypts raw credentials only if configured to',
    ['control'],
    async () => {
      const user = newUser();
      await client.startTask(taskOf(user));
      const calls = await control().calls({ username: user.username, method: 'POST' });
      expect(calls.map(({ credentialsMode }) => credentialsMode)).toEqual(['raw']);
    },
  );

  statement('if it is not activated, encrypted credentials are refused', ['control'], async () => {
    const encrypting = clientWith({ encryptRawCredentials: true });
    await whileRestricted({ temporaryEncryption: false }, () =>
      fails(encrypting.startTask(taskOf(newUser())), ProviderRefused, { status: 403 }),
    );
  });
});

describe('Entity listing item', () => {
  statement(
    'an entity has name, id, enabled, and actions named <entity_id>:<action_type>',
    ['presets'],
    async () => {
      const entities = await client.listEntities();
      expect(entities.length).toBeGreaterThan(0);
      for (const { id, actions } of entities) {
        for (const { name, actionType } of actions) expect(name).toBe(`${id}:${actionType}`);
      }
    },
  );
});

describe('User status by entity', () => {
  statement('a user status has enabled and retryAfter', ['presets'], async () => {
    const user = { entityId: server.entity, username: 'u' };
    const status = await client.getUserStatus(user, { responseType: 'disabledUsername' });
    expect(status.enabled).toBe(false);
    expect(Date.parse(status.retryAfter ?? '')).not.toBeNaN();
  });
});

describe('Answers', () => {
  statement('results of another structure are distinguished from a failed call', ['control'], async () => {
    const user = await plannedUser({ results: { pages: [] }, durationMs: 0 });
    const taskId = await client.startTask(taskOf(user));
    const failure = await failureOf(client.waitForTask(taskId, waiting));
    expect(failure).toMatchObject({ name: 'UnexpectedTaskResults', taskStatus: 'COMPLETED' });
    const read = await readTask(connection, await client.sessionToken(), taskId);
    expect(read).toMatchObject({ taskStatus: 'COMPLETED', results: { pages: [] } });
  });
});
