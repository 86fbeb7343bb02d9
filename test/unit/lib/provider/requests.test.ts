import { describe, expect, test } from 'vitest';
import * as provider from '../../../../lib/provider/index.ts';
import { answering } from '../../../support/data/canned-connection.ts';
import { errorText } from '../../../support/data/error-text.ts';
import { target } from './every-call.ts';

const secret = 'sentinel-of-a-secret';

// What the document itself says of requests is in test/conformance.

/** What is wrong with a request, by field. Whatever it is, nothing leaves and no value is reported. */
const violationsOf = async (
  call: (connection: provider.Connection) => Promise<unknown>,
): Promise<Readonly<Record<string, string>>> => {
  const { connection, calls } = answering(() => ({ status: 500 }));
  const failure = await call(connection).catch((error: unknown) => error);
  expect(calls).toEqual([]);
  expect(failure).toBeInstanceOf(provider.InvalidProviderRequest);
  expect(errorText(failure)).not.toContain(secret);
  const { violations } = failure as provider.InvalidProviderRequest;
  for (const { path, rule } of violations) expect((failure as Error).message).toContain(`${path} ${rule}`);
  return Object.fromEntries(violations.map(({ path, rule }) => [path, rule]));
};

const isSent = async (call: (connection: provider.Connection) => Promise<unknown>): Promise<void> => {
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
  const creating = (request: object) => (connection: provider.Connection) =>
    provider.createOtpToken(connection, secret, loose({ ...otp, ...request }));

  test.each([
    ['products that are no list', { products: 'tef' }, ['products']],
    ['no username', { user: {} }, ['user.username']],
    ['an email that is no text', { user: { username: target, email: 7 } }, ['user.email']],
    ['no clientId', { clientId: '' }, ['clientId']],
    ['no widgetConfigId', { widgetConfigId: undefined }, ['widgetConfigId']],
    ['two mistakes', { products: [secret], user: { username: secret } }, ['products.0', 'user.username']],
  ])('with %s', async (_what, request, paths) => {
    expect(Object.keys(await violationsOf(creating(request)))).toEqual(paths);
  });

  test('of every documented product and entity type is sent', async () => {
    const types = provider.entityTypes;
    await isSent(
      creating({ products: provider.productTypes, filters: { entities: { include: { types } } } }),
    );
  });

  test.each([
    ['a company without an id', { company: {} }, 'company.id'],
    ['a company id with a wrong check digit', { company: { id: '77777777-8' } }, 'company.id'],
  ])('of a legal person with %s', async (_what, company, path) => {
    const violations = await violationsOf((connection) =>
      provider.createLegalPersonOtpToken(connection, secret, loose({ ...otp, ...company })),
    );
    expect(Object.keys(violations)).toEqual([path]);
  });
});

describe('consents', () => {
  test.each([
    [{ page: 0 }, 'page'],
    [{ limit: 0 }, 'limit'],
    [{ page: 1.5 }, 'page'],
  ])('%j', async (query, path) => {
    const violations = await violationsOf((connection) => provider.listConsents(connection, secret, query));
    expect(Object.keys(violations)).toEqual([path]);
  });

  test.each(['', '.', '..', '\ud800', loose<string>(undefined), loose<string>({ a: 1 })])(
    'the consentId %j leads nowhere',
    async (consentId) => {
      for (const call of [provider.getConsent, provider.getConsentPdf, provider.revokeConsent]) {
        const violations = await violationsOf((connection) => call(connection, secret, consentId));
        expect(Object.keys(violations)).toEqual(['consentId']);
      }
    },
  );

  test('a consentId stays one segment of the path', async () => {
    const { connection, calls } = answering(() => ({ status: 404 }));
    await provider.getConsent(connection, secret, '../a?b#c$&').catch(() => {});
    expect(calls[0]?.url).toBe('https://provider.example/api/v1/consents/..%2Fa%3Fb%23c%24%26');
  });
});

describe('an extraction', () => {
  test.each([['an unknown product', { product: secret, consentId: 'c' }, 'product']])(
    'of %s',
    async (_what, request, path) => {
      for (const call of [provider.startExtraction, provider.startExtractionV2, provider.retrieveData]) {
        const violations = await violationsOf((connection) => call(connection, secret, loose(request)));
        expect(Object.keys(violations)).toEqual([path]);
      }
    },
  );
});

describe('a taskId', () => {
  const polls = [
    provider.pollExtraction,
    provider.pollExtractionV2,
    provider.readTask,
    provider.readTypedTask,
    provider.pollLegacyTask,
  ];

  test.each(['', 'x'.repeat(101), '.', '..', loose<string>(7)])('%j is none', async (taskId) => {
    for (const poll of polls) {
      expect(Object.keys(await violationsOf((connection) => poll(connection, secret, taskId)))).toEqual([
        'taskId',
      ]);
    }
  });

  test.each(['x', 'x'.repeat(100)])('%s is one', async (taskId) => {
    for (const poll of polls) await isSent((connection) => poll(connection, secret, taskId));
  });
});

describe('a v2 task', () => {
  const january = { startDate: '2026-01-01', endDate: '2026-01-31' };
  const request = {
    entity: 'demo-bank',
    credentials: { mode: 'raw', value: { username: 'u', password: secret } },
    actions: [{ id: 'movement', params: { dateRange: january } }, { id: 'tef' }, { id: 'product-balance' }],
  };
  const starting = (more: object) => (connection: provider.Connection) =>
    provider.startTask(connection, secret, loose({ ...request, ...more }));
  const movement = (dateRange: unknown) => ({ actions: [{ id: 'movement', params: { dateRange } }] });
  const range = 'actions.0.params.dateRange';

  test.each([
    ['an action that is not listed', { actions: [{ id: 'tef' }, { id: 'bill' }] }, ['actions.1.id']],
    ['an action without an id', { actions: [{}] }, ['actions.0.id']],
    [
      'a date that does not exist',
      movement({ startDate: '2026-01-01', endDate: '2026-02-30' }),
      [`${range}.endDate`],
    ],
    ['a timestamp', movement({ ...january, endDate: '2026-01-31T00:00:00Z' }), [`${range}.endDate`]],
    [
      'a range that ends before it starts',
      movement({ startDate: '2026-02-01', endDate: '2026-01-31' }),
      [`${range}.endDate`],
    ],
    [
      'credentials of an unknown mode',
      { credentials: { mode: secret, value: secret } },
      ['credentials.mode'],
    ],
    [
      'raw credentials that are a text',
      { credentials: { mode: 'raw', value: secret } },
      ['credentials.value'],
    ],
    [
      'encrypted credentials that are an object',
      { credentials: { mode: 'encrypted', value: { password: secret } } },
      ['credentials.value'],
    ],
    ['empty persisted credentials', { credentials: { mode: 'persisted', value: '' } }, ['credentials.value']],
    ['no delivery attempt', { webhook: { enable: true, retries: 0 } }, ['webhook.retries']],
    ['six delivery attempts', { webhook: { enable: true, retries: 6 } }, ['webhook.retries']],
  ])('with %s', async (_what, more, paths) => {
    expect(Object.keys(await violationsOf(starting(more)))).toEqual(paths);
  });

  test.each([
    ['as it is', {}],
    ['with fields of the entity in raw credentials', { credentials: { mode: 'raw', value: { pin: 7 } } }],
    ['with one day', movement({ startDate: '2024-02-29', endDate: '2024-02-29' })],
    ['with a webhook switched off', { webhook: { enable: false } }],
    ['with one delivery attempt', { webhook: { enable: true, retries: 1 } }],
    ['with five of them', { webhook: { enable: true, retries: 5 } }],
  ])('%s is sent', async (_what, more) => {
    await isSent(starting(more));
  });

  test('that no JSON can hold is not sent, and its value is not reported', async () => {
    const value: Record<string, unknown> = { username: 'u' };
    value[secret] = value;
    const violations = await violationsOf(starting({ credentials: { mode: 'raw', value } }));
    expect(violations).toEqual({ '': 'cannot be written as JSON' });
  });
});

describe('a legacy task', () => {
  const request = { action: 'demo-bank:tef', encryptArgs: 'Y2lwaGVy-aXY=' };

  test.each([
    ['an action without an entity', { action: 'tef' }, 'action'],
    ['an action without a type', { action: 'demo-bank:' }, 'action'],
    ['credentials in the clear', { encryptArgs: JSON.stringify({ password: secret }) }, 'encryptArgs'],
    ['a webhook that is an object', { webhook: { enable: true } }, 'webhook'],
  ])('with %s', async (_what, more, path) => {
    const violations = await violationsOf((connection) =>
      provider.startLegacyTask(connection, secret, loose({ ...request, ...more })),
    );
    expect(Object.keys(violations)).toEqual([path]);
  });

  test('about a user without an entity', async () => {
    const violations = await violationsOf((connection) =>
      provider.getUserStatus(connection, secret, { entityId: '', username: 'u' }),
    );
    expect(Object.keys(violations)).toEqual(['entityId']);
  });
});
