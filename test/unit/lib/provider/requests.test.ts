import { describe, expect, test } from 'vitest';
import * as provider from '#lib/provider/index.ts';
import { answering } from '../../../support/data/canned-connection.ts';
import { errorText } from '../../../support/data/text-of-error.ts';
import { secret, target } from './every-call.ts';

test('a request that the document does not allow is not sent, and names its fields', async () => {
  const connection: provider.Connection = {
    baseUrl: 'https://provider.example',
    fetch: () => Promise.reject(new Error('It was sent.')),
    totalTimeoutMs: 20_000,
    maxAnswerBytes: 65_536,
  };
  const request = { products: ['tef'], user: { username: '11.111.111-2' } } as const;
  const ids = { clientId: 'client-1', widgetConfigId: 'Widget-1' };
  const creating = provider.createOtpToken(connection, 'api-key', { ...request, ...ids });
  await expect(creating).rejects.toMatchObject({
    name: 'InvalidProviderRequest',
    violations: [{ path: 'user.username' }],
  });
});

// What the document itself says of requests is in test/provider-conformance.

type Call = (connection: provider.Connection) => Promise<unknown>;

/** The fields that are wrong. Whatever they are, nothing leaves and no value is reported. */
const wrongFieldsOf = async (call: Call): Promise<readonly string[]> => {
  const { connection, calls } = answering(() => ({ status: 500 }));
  const failure = await call(connection).catch((error: unknown) => error);
  expect(calls).toEqual([]);
  expect(failure).toBeInstanceOf(provider.InvalidProviderRequest);
  expect(errorText(failure)).not.toContain(secret);
  const { violations, message } = failure as provider.InvalidProviderRequest;
  for (const { path, rule } of violations) {
    expect(rule).not.toBe('');
    expect(message).toContain(`${path} ${rule}`);
  }
  return violations.map(({ path }) => path);
};

const isSent = async (call: Call): Promise<void> => {
  const { connection, calls } = answering(() => ({ status: 503 }));
  await expect(call(connection)).rejects.toThrow(provider.ProviderAmbiguous);
  expect(calls).toHaveLength(1);
};

/** As a caller without types would send it. */
const loose = <T>(value: unknown): T => value as T;

describe('an OTP token', () => {
  const otp: provider.OtpTokenRequest = {
    products: ['tef', 'birth-certificate'],
    user: { username: target },
    clientId: 'client',
    widgetConfigId: 'Widget',
  };
  const creating =
    (request: object): Call =>
    (connection) =>
      provider.createOtpToken(connection, secret, loose({ ...otp, ...request }));

  test.each([
    ['products that are no list', { products: 'tef' }, ['products']],
    ['no username', { user: {} }, ['user.username']],
    ['an email that is no text', { user: { username: target, email: 7 } }, ['user.email']],
    ['no clientId', { clientId: '' }, ['clientId']],
    ['no widgetConfigId', { widgetConfigId: undefined }, ['widgetConfigId']],
    ['two mistakes', { products: [secret], user: { username: secret } }, ['products.0', 'user.username']],
  ])('with %s', async (_what, request, fields) => {
    expect(await wrongFieldsOf(creating(request))).toEqual(fields);
  });

  test('of every documented product and entity type is sent', async () => {
    const types = provider.entityTypes;
    await isSent(
      creating({ products: provider.productTypes, filters: { entities: { include: { types } } } }),
    );
  });

  test('of a legal person with a wrong check digit', async () => {
    const company = { id: '77777777-8' };
    const call: Call = (connection) =>
      provider.createLegalPersonOtpToken(connection, secret, { ...otp, company });
    expect(await wrongFieldsOf(call)).toEqual(['company.id']);
  });
});

describe('consents', () => {
  test.each([
    ['page', { page: 0 }],
    ['page', { page: 1.5 }],
    ['limit', { limit: 0 }],
  ])('a %s of %j', async (field, query) => {
    expect(await wrongFieldsOf((connection) => provider.listConsents(connection, secret, query))).toEqual([
      field,
    ]);
  });

  test.each(['', '.', '..', '\ud800', loose<string>(undefined)])(
    'the consentId %j leads nowhere',
    async (consentId) => {
      for (const call of [provider.getConsent, provider.revokeConsent]) {
        expect(await wrongFieldsOf((connection) => call(connection, secret, consentId))).toEqual([
          'consentId',
        ]);
      }
    },
  );

  test('a consentId stays one segment of the path', async () => {
    const { connection, calls } = answering(() => ({ status: 404 }));
    await provider.getConsent(connection, secret, '../a?b#c$&').catch(() => {});
    expect(calls[0]?.url).toBe('https://provider.example/api/v1/consents/..%2Fa%3Fb%23c%24%26');
  });
});

test('an extraction of an unknown product', async () => {
  const request = loose<provider.StartExtractionRequest>({ product: secret, consentId: 'c' });
  for (const call of [provider.startExtraction, provider.startExtractionV2, provider.retrieveData]) {
    expect(await wrongFieldsOf((connection) => call(connection, secret, request))).toEqual(['product']);
  }
});

test.each(['', 'x'.repeat(101), '.', '..', loose<string>(7)])('the taskId %j is none', async (taskId) => {
  const reading: Call = (connection) => provider.readTask(connection, secret, taskId);
  expect(await wrongFieldsOf(reading)).toEqual(['taskId']);
});

test.each(['x', 'x'.repeat(100)])('the taskId %s is one', async (taskId) => {
  await isSent((connection) => provider.readTask(connection, secret, taskId));
});

describe('a v2 task', () => {
  const january = { startDate: '2026-01-01', endDate: '2026-01-31' };
  const request = {
    entity: 'demo-bank',
    credentials: { mode: 'raw', value: { username: 'u', password: secret } },
    actions: [{ id: 'movement', params: { dateRange: january } }, { id: 'tef' }, { id: 'product-balance' }],
  };
  const starting =
    (more: object): Call =>
    (connection) =>
      provider.startTask(connection, secret, loose({ ...request, ...more }));
  const credentials = (mode: string, value: unknown) => ({ credentials: { mode, value } });
  const movement = (startDate: string, endDate: string) => ({
    actions: [{ id: 'movement', params: { dateRange: { startDate, endDate } } }],
  });
  const endDate = 'actions.0.params.dateRange.endDate';

  test.each([
    ['an action without an id', { actions: [{ id: 'tef' }, {}] }, 'actions.1.id'],
    [
      'params that no action has',
      { actions: [{ id: 'bill', params: { rut: secret } }] },
      'actions.0.params.dateRange',
    ],
    ['a date that does not exist', movement('2026-01-01', '2026-02-30'), endDate],
    ['a timestamp', movement('2026-01-01', '2026-01-31T00:00:00Z'), endDate],
    ['a range that ends before it starts', movement('2026-02-01', '2026-01-31'), endDate],
    ['credentials of an unknown mode', credentials(secret, secret), 'credentials.mode'],
    ['raw credentials that are a text', credentials('raw', secret), 'credentials.value'],
    ['encrypted credentials that are an object', credentials('encrypted', { secret }), 'credentials.value'],
    ['empty persisted credentials', credentials('persisted', ''), 'credentials.value'],
  ])('with %s', async (_what, more, field) => {
    expect(await wrongFieldsOf(starting(more))).toEqual([field]);
  });

  test('with an action that the document does not list is sent', async () => {
    await isSent(starting({ actions: [{ id: 'bill' }, { id: 'debt', params: { dateRange: january } }] }));
  });

  test('with one day, and fields of the entity in raw credentials, is sent', async () => {
    await isSent(starting(movement('2024-02-29', '2024-02-29')));
    await isSent(starting(credentials('raw', { pin: 7 })));
  });

  test('that no JSON can hold is not sent, and its value is not reported', async () => {
    const value: Record<string, unknown> = { username: 'u' };
    value[secret] = value;
    expect(await wrongFieldsOf(starting(credentials('raw', value)))).toEqual(['']);
  });
});

describe('a legacy task', () => {
  const request = { action: 'demo-bank:tef', encryptArgs: 'Y2lwaGVy-aXY=' };

  test.each([
    ['an action without a type', { action: 'demo-bank:' }, 'action'],
    ['credentials in the clear', { encryptArgs: JSON.stringify({ password: secret }) }, 'encryptArgs'],
    ['a webhook that is an object', { webhook: { enable: true } }, 'webhook'],
  ])('with %s', async (_what, more, field) => {
    const call: Call = (connection) =>
      provider.startLegacyTask(connection, secret, loose({ ...request, ...more }));
    expect(await wrongFieldsOf(call)).toEqual([field]);
  });

  test('about a user without an entity', async () => {
    const call: Call = (connection) =>
      provider.getUserStatus(connection, secret, { entityId: '', username: 'u' });
    expect(await wrongFieldsOf(call)).toEqual(['entityId']);
  });
});
