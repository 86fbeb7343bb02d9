import { describe, expect, test } from 'vitest';
import {
  answerConsentRequest,
  type ConsentDeps,
  type ConsentEvent,
} from '../../../../lib/consents/answer-consent-request.ts';
import { parseSessionRequest } from '../../../../lib/consents/parse-session-request.ts';
import { parseExtractionRequest } from '../../../../lib/extraction/api/parse-request.ts';
import { NotConfigured } from '../../../../lib/not-configured.ts';
import { cacheTaskTokens } from '../../../../lib/provider/tokens/task-tokens.ts';
import { answering } from '../../../support/data/canned-connection.ts';

const target = '11.111.111-1';
const company = '76.086.428-5';
const consent = {
  id: 'c-1',
  products: ['movement'],
  tyc: { actualVersion: 1 },
  entity: { id: 'bank', name: 'Bank', type: 'bank' },
  status: 'ACTIVE',
  validUntil: '2027-01-01T00:00:00.000Z',
};

type Answering = Parameters<typeof answering>[0];

/** The routes over a provider that answers as given; Task Tokens are tt-1, tt-2, …. */
const setUp = (answer: Answering = () => ({ body: '{}' }), more: Partial<ConsentDeps> = {}) => {
  const { connection, calls } = answering(answer);
  const logged: unknown[] = [];
  let tokens = 0;
  const deps: ConsentDeps = {
    connection,
    taskTokens: cacheTaskTokens({
      create: async () => {
        tokens += 1;
        return `tt-${tokens}`;
      },
      lifetimeMs: 60_000,
      now: () => new Date(0),
    }),
    withApiKey: (call) => call('key'),
    clientId: () => 'client',
    widgetConfigId: () => 'widget',
    telemetry: { log: (...line) => void logged.push(line) },
    ...more,
  };
  const ask = async (routeKey: string, event: Partial<ConsentEvent> = {}) => {
    const answered = await answerConsentRequest(
      { routeKey, headers: { 'cosecha-target': target }, pathParameters: { consentId: 'c-1' }, ...event },
      deps,
    );
    return { ...answered, json: JSON.parse(answered.body ?? 'null') as Record<string, unknown> };
  };
  return { ask, calls, logged };
};

const data = (of: unknown) => () => ({ body: JSON.stringify({ data: of }) });

describe('a consent session', () => {
  const session = data({ otpToken: 'otp', consentId: 'c-1' });
  const sent = (calls: readonly { readonly body?: string }[]): unknown => JSON.parse(calls[0]?.body ?? '');

  test('of a natural person is opened for whom the header names', async () => {
    const { ask, calls } = setUp(session);
    const body = JSON.stringify({
      products: ['movement'],
      user: { email: 'ana@example.com' },
      filters: { entities: { include: { types: ['bank'] } } },
      locale: 'en',
    });
    const { statusCode, headers, json } = await ask('POST /consent-sessions', { body });
    expect(statusCode).toBe(201);
    expect(headers).toMatchObject({ location: '/consents/c-1', 'cache-control': 'no-store' });
    expect(json).toEqual({ otpToken: 'otp', consentId: 'c-1' });
    expect(sent(calls)).toEqual({
      products: ['movement'],
      user: { username: target, email: 'ana@example.com' },
      filters: { entities: { include: { types: ['bank'] } } },
      locale: 'en',
      clientId: 'client',
      widgetConfigId: 'widget',
    });
  });

  test('of a legal person is opened for the company that the header names, and for who acts for it', async () => {
    const { ask, calls } = setUp(session);
    const body = JSON.stringify({ person: 'legal', products: ['tef'], user: { username: target } });
    const { statusCode } = await ask('POST /consent-sessions', {
      headers: { 'cosecha-target': company },
      body,
    });
    expect(statusCode).toBe(201);
    expect(sent(calls)).toEqual({
      products: ['tef'],
      user: { username: target },
      company: { id: company },
      clientId: 'client',
      widgetConfigId: 'widget',
    });
  });

  test('whose id fits into no address is an answer that cannot be used, and no fault of ours', async () => {
    const { ask } = setUp(data({ otpToken: 'otp', consentId: '\ud800' }));
    const { statusCode } = await ask('POST /consent-sessions', { body: '{"products":["tef"]}' });
    expect(statusCode).toBe(502);
  });

  test('is not opened with a body that is too large', async () => {
    const { ask, calls } = setUp(session);
    expect((await ask('POST /consent-sessions', { body: 'x'.repeat(16_385) })).statusCode).toBe(413);
    expect(calls).toEqual([]);
  });

  test('is not opened while a setting is missing', async () => {
    const { ask, calls } = setUp(session, {
      widgetConfigId: () => {
        throw new NotConfigured('setting', 'widgetConfigId');
      },
    });
    const body = '{"products":["tef"]}';
    await expect(ask('POST /consent-sessions', { body })).rejects.toThrow(
      'The setting widgetConfigId is not',
    );
    expect(calls).toEqual([]);
  });
});

describe('consents', () => {
  test('are listed as the provider lists them, by page', async () => {
    const page = { consents: [{ ...consent, more: 'passes' }], hasNext: true, count: 25 };
    const { ask, calls } = setUp(data(page));
    const { statusCode, headers, json } = await ask('GET /consents', {
      queryStringParameters: { page: '2', limit: '5' },
    });
    expect([statusCode, json]).toEqual([200, page]);
    expect(headers).toMatchObject({ 'cache-control': 'no-store' });
    expect(calls[0]?.url).toBe('https://provider.example/api/v1/consents?page=2&limit=5');
    expect(calls[0]?.headers).toMatchObject({ authorization: 'Bearer tt-1' });
  });

  test.each<readonly [string, unknown, string, string]>([
    ['GET /consents/{consentId}', consent, 'GET', '/api/v1/consents/c-1'],
    ['GET /consents/{consentId}/pdf', { url: 'https://pdf' }, 'GET', '/api/v1/consents/c-1/pdf'],
    [
      'POST /consents/{consentId}/revoke',
      { consentId: 'c-1', status: 'INACTIVE', subStatus: 'REVOKED' },
      'POST',
      '/api/v1/consents/revoke',
    ],
  ])('%s is one call to the provider', async (route, answer, method, path) => {
    const { ask, calls } = setUp(data(answer));
    const { statusCode, json } = await ask(route);
    expect([statusCode, json]).toEqual([200, answer]);
    expect(calls.map((call) => [call.method, call.url])).toEqual([
      [method, `https://provider.example${path}`],
    ]);
  });

  test('are asked for with one Task Token for as long as it serves, and with a new one after a 401', async () => {
    let taken = 'tt-1';
    const { ask, calls } = setUp(({ headers }) =>
      headers.authorization === `Bearer ${taken}`
        ? { body: JSON.stringify({ data: consent }) }
        : { status: 401 },
    );
    await ask('GET /consents/{consentId}');
    await ask('GET /consents/{consentId}');
    taken = 'tt-2';
    expect((await ask('GET /consents/{consentId}')).statusCode).toBe(200);
    expect(calls.map(({ headers }) => headers.authorization?.slice(-4))).toEqual([
      'tt-1',
      'tt-1',
      'tt-1',
      'tt-2',
    ]);
  });
});

test.each([undefined, '11111111-2'])(
  'the header Cosecha-Target is required, and must be a national id, which the answer does not repeat: %s',
  async (header) => {
    const { ask, calls } = setUp();
    const { statusCode, body } = await ask('GET /consents', { headers: { 'cosecha-target': header } });
    expect([statusCode, calls]).toEqual([400, []]);
    expect(body).toContain('Cosecha-Target');
    expect(body).not.toContain('11111111');
  },
);

test.each([{ page: '0' }, { limit: 'all' }, { Page: '1' }])(
  'the query %o is refused by name, and nothing is asked',
  async (queryStringParameters) => {
    const { ask, calls } = setUp();
    const { statusCode, body } = await ask('GET /consents', { queryStringParameters });
    expect([statusCode, calls]).toEqual([400, []]);
    expect(body).toMatch(/page|limit/);
  },
);

describe('what the provider does not do is a problem that says what to do next:', () => {
  type Case = readonly [answer: number | 'lost' | 'unreachable', type: string, status: number];
  const ofOne: readonly Case[] = [
    [400, 'urn:cosecha:problem:provider-refused', 422],
    [401, 'urn:cosecha:problem:provider-forbids', 403],
    [403, 'urn:cosecha:problem:provider-forbids', 403],
    [404, 'urn:cosecha:problem:consent-not-found', 404],
    [409, 'urn:cosecha:problem:consent-conflict', 409],
    [410, 'urn:cosecha:problem:provider-refused', 422],
    [429, 'urn:cosecha:problem:unavailable', 503],
    [408, 'urn:cosecha:problem:provider-failed', 502],
    [500, 'urn:cosecha:problem:provider-failed', 502],
    [302, 'urn:cosecha:problem:provider-failed', 502],
    ['lost', 'urn:cosecha:problem:provider-failed', 502],
    ['unreachable', 'urn:cosecha:problem:unavailable', 503],
  ];
  const answerOf =
    (answer: Case[0]): Answering =>
    () => {
      if (answer === 'lost') throw new Error(`lost: ${target}`);
      if (answer === 'unreachable') throw Object.assign(new Error(target), { syscall: 'connect' });
      return { status: answer, body: `the body repeats ${target}` };
    };

  test.each(ofOne)('%s is %s, %i', async (answer, type, status) => {
    const { ask, logged } = setUp(answerOf(answer));
    const { statusCode, headers, body, json } = await ask('POST /consents/{consentId}/revoke');
    expect([statusCode, json.type, json.status]).toEqual([status, type, status]);
    expect(headers).toMatchObject({ 'content-type': 'application/problem+json' });
    expect(Object.hasOwn(headers ?? {}, 'retry-after')).toBe(status === 503);
    expect(body).not.toContain(target);
    expect(logged).toHaveLength(1);
    expect(JSON.stringify(logged)).not.toContain(target);
  });

  test('a 404 where no consent was asked for is none', async () => {
    const { ask } = setUp(() => ({ status: 404 }));
    expect((await ask('GET /consents')).json).toMatchObject({
      type: 'urn:cosecha:problem:provider-refused',
      status: 422,
    });
    const session = await ask('POST /consent-sessions', { body: '{"products":["tef"]}' });
    expect(session.json).toMatchObject({ type: 'urn:cosecha:problem:provider-refused', status: 422 });
  });

  test.each(['..', '.', ''])(
    'an id that fits into no path ("%s") is the id of no consent',
    async (consentId) => {
      const { ask, calls } = setUp();
      expect((await ask('GET /consents/{consentId}', { pathParameters: { consentId } })).statusCode).toBe(
        404,
      );
      expect(calls).toEqual([]);
    },
  );

  test.each([
    ['c-1', true],
    ['urn:uuid:5d5f0f0c-6b0e-4d0f-9d5e-2f6a3c1b7e10', true],
    ['x'.repeat(100), true],
    ['..', false],
    ['a consent', false],
    ['x'.repeat(101), false],
  ])('the id %j is one for every route, or for none', async (consentId, isOne) => {
    const session = setUp(data({ otpToken: 'otp', consentId }));
    const opened = await session.ask('POST /consent-sessions', { body: '{"products":["tef"]}' });
    expect(opened.statusCode).toBe(isOne ? 201 : 502);
    const read = setUp(data({ ...consent, id: consentId }));
    const pathParameters = { consentId };
    expect((await read.ask('GET /consents/{consentId}', { pathParameters })).statusCode).toBe(
      isOne ? 200 : 404,
    );
    const request = { method: 'consent', product: 'tef', consentId, target: '11111111-1' };
    expect(parseExtractionRequest(request).kind).toBe(isOne ? 'valid' : 'invalid');
  });

  test('an id is one part of a path, whatever is in it', async () => {
    const { ask, calls } = setUp(data(consent));
    await ask('GET /consents/{consentId}', { pathParameters: { consentId: '../token?x#y' } });
    expect(calls[0]?.url).toBe('https://provider.example/api/v1/consents/..%2Ftoken%3Fx%23y');
  });
});

test('a route that there is not is a fault of ours', async () => {
  const { ask } = setUp();
  await expect(ask('DELETE /consents')).rejects.toThrow('There is no such route.');
  await expect(ask('toString')).rejects.toThrow('There is no such route.');
});

// test/fuzz/consents compares what is accepted with docs/openapi.yaml.
describe('parse-session-request', () => {
  const target = '76086428-5';
  const valid = { products: ['movement', 'tef'] };

  const pointersOf = (body: unknown): readonly string[] => {
    const parsed = parseSessionRequest(body, target);
    return parsed.kind === 'valid' ? [] : parsed.violations.map(({ pointer }) => pointer);
  };

  test('a natural person is who is meant unless a legal one is named', () => {
    const natural = {
      kind: 'valid',
      request: { person: 'natural', input: { ...valid, user: { username: target } } },
    };
    expect(parseSessionRequest(valid, target)).toEqual(natural);
    expect(parseSessionRequest({ ...valid, person: 'natural', user: {} }, target)).toEqual(natural);
  });

  test.each<readonly [string, unknown, readonly string[]]>([
    ['an unknown product', { products: ['tef', 'secrets'] }, ['/products/1']],
    ['a locale of 36 characters', { ...valid, locale: 'x'.repeat(36) }, ['/locale']],
    ['a legal person for whom nobody acts', { ...valid, person: 'legal' }, ['/user/username']],
    ['a natural person named twice', { ...valid, user: { username: '11111111-1' } }, ['/user/username']],
    [
      'control characters',
      { ...valid, user: { email: 'a@b.example\r\nBcc: c' }, locale: 'es\u009bCL' },
      ['/user/email', '/locale'],
    ],
  ])('is refused by pointer: %s', (_, body, pointers) => {
    expect(pointersOf(body)).toEqual(pointers);
  });
});
