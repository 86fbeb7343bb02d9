import { describe, expect, test } from 'vitest';
import {
  answerConsentRequest,
  type ConsentDeps,
  type ConsentEvent,
} from '#lib/consents/answer-consent-request.ts';
import { parseSessionRequest } from '#lib/consents/parse-session-request.ts';
import { extractionRequestParser } from '#lib/extraction/api/parse-request.ts';
import { NotConfigured } from '#lib/not-configured.ts';
import { cacheTaskTokens } from '#lib/provider/tokens/task-tokens.ts';
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
      {
        routeKey,
        requestContext: { authorizer: { iam: { userArn: 'arn:aws:iam::111122223333:user/caller' } } },
        headers: { 'cosecha-target': target },
        pathParameters: { consentId: 'c-1' },
        ...event,
      },
      deps,
    );
    return { ...answered, json: JSON.parse(answered.body ?? 'null') as Record<string, unknown> };
  };
  return { ask, calls, logged };
};

const data = (of: unknown) => () => ({ body: JSON.stringify({ data: of }) });

describe('a consent session', () => {
  const session = data({ otpToken: 'otp', consentId: 'c-1' });
  const more = { filters: { entities: { include: { types: ['bank'] } } }, locale: 'en' };
  const email = 'ana@example.com';

  test.each([
    [
      'a natural person is opened for whom the header names',
      target,
      { person: 'natural', products: ['movement'], user: { email }, ...more },
      { products: ['movement'], user: { username: target, email }, ...more },
    ],
    [
      'a legal person is opened for the company that the header names, and for who acts for it',
      company,
      { person: 'legal', products: ['tef'], user: { username: target } },
      { products: ['tef'], user: { username: target }, company: { id: company } },
    ],
  ])('of %s', async (_what, header, body, sent) => {
    const { ask, calls } = setUp(session);
    const { statusCode, headers, json } = await ask('POST /consent-sessions', {
      headers: { 'cosecha-target': header },
      body: JSON.stringify(body),
    });
    expect([statusCode, json]).toEqual([201, { otpToken: 'otp', consentId: 'c-1' }]);
    expect(headers).toMatchObject({ location: '/consents/c-1', 'cache-control': 'no-store' });
    const settings = { clientId: 'client', widgetConfigId: 'widget' };
    expect(JSON.parse(calls[0]?.body ?? '')).toEqual({ ...sent, ...settings });
  });

  test('is not opened with repeated names in a long one, and the answer does not repeat it 50 times', async () => {
    const body = `{"${'k'.repeat(15_000)}":{${'"a":1,'.repeat(60)}"a":1}}`;
    const { statusCode, body: answer = '' } = await setUp(session).ask('POST /consent-sessions', { body });
    expect(statusCode).toBe(400);
    expect(answer.length).toBeLessThan(64 * 1024);
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

  test.each([
    'javascript:alert(1)',
    ' java\nscript:alert(1)',
    'data:text/html,x',
    'http://files.example/c.pdf',
    '/c.pdf',
    'file:///etc/hosts',
  ])('whose PDF is at %j have none that a caller could open', async (url) => {
    expect((await setUp(data({ url })).ask('GET /consents/{consentId}/pdf')).statusCode).toBe(502);
  });

  test('are asked for with a new Task Token after a 401', async () => {
    const { ask, calls } = setUp(() => ({ status: 401 }));
    await ask('GET /consents/{consentId}');
    expect(calls.map(({ headers }) => headers.authorization)).toEqual(['Bearer tt-1', 'Bearer tt-2']);
  });
});

describe('what the provider does not do is a problem that says what to do next:', () => {
  type Reply = number | 'lost' | 'unreachable';
  const answerOf =
    (answer: Reply): Answering =>
    () => {
      if (answer === 'lost') throw new Error(`lost: ${target}`);
      if (answer === 'unreachable') throw Object.assign(new Error(target), { syscall: 'connect' });
      return { status: answer, body: `the body repeats ${target}` };
    };

  test.each<readonly [answer: Reply, type: string, status: number]>([
    [400, 'provider-refused', 422],
    [401, 'provider-forbids', 403],
    [403, 'provider-forbids', 403],
    [404, 'consent-not-found', 404],
    [409, 'consent-conflict', 409],
    [429, 'unavailable', 503],
    [408, 'provider-failed', 502],
    [500, 'provider-failed', 502],
    ['lost', 'provider-failed', 502],
    ['unreachable', 'unavailable', 503],
  ])('%s is %s, %i', async (answer, type, status) => {
    const { ask, logged } = setUp(answerOf(answer));
    const { statusCode, headers, body, json } = await ask('POST /consents/{consentId}/revoke');
    expect([statusCode, json.type, json.status]).toEqual([status, `urn:cosecha:problem:${type}`, status]);
    expect(headers).toMatchObject({ 'content-type': 'application/problem+json' });
    expect(Object.hasOwn(headers ?? {}, 'retry-after')).toBe(status === 503);
    expect(body).not.toContain(target);
    expect(logged).toHaveLength(1);
    expect(JSON.stringify(logged)).not.toContain(target);
  });

  test('a 404 where no consent was asked for is none', async () => {
    const { ask } = setUp(() => ({ status: 404 }));
    for (const route of ['GET /consents', 'POST /consent-sessions']) {
      const { json } = await ask(route, { body: '{"products":["tef"]}' });
      expect(json).toMatchObject({ type: 'urn:cosecha:problem:provider-refused', status: 422 });
    }
  });

  test.each([
    ['c-1', true],
    ['urn:uuid:5d5f0f0c-6b0e-4d0f-9d5e-2f6a3c1b7e10', true],
    ['x'.repeat(100), true],
    ['..', false],
    ['', false],
    ['\ud800', false],
    ['a consent', false],
    ['x'.repeat(101), false],
  ])('the id %j is one for every route, or for none', async (consentId, isOne) => {
    const session = setUp(data({ otpToken: 'otp', consentId }));
    const opened = await session.ask('POST /consent-sessions', { body: '{"products":["tef"]}' });
    expect(opened.statusCode).toBe(isOne ? 201 : 502);
    const read = setUp(data({ ...consent, id: consentId }));
    const { statusCode } = await read.ask('GET /consents/{consentId}', { pathParameters: { consentId } });
    expect([statusCode, read.calls.length]).toEqual(isOne ? [200, 1] : [404, 0]);
    const request = { method: 'consent', product: 'tef', consentId, target: '11111111-1' };
    expect(extractionRequestParser({})(request).kind).toBe(isOne ? 'valid' : 'invalid');
  });
});

test('a route that there is not is a fault of ours', async () => {
  const { ask } = setUp();
  await expect(ask('DELETE /consents')).rejects.toThrow('There is no such route.');
  await expect(ask('toString')).rejects.toThrow('There is no such route.');
});

// test/fuzz/consents compares what is accepted with docs/openapi.yaml.
describe('parse-session-request', () => {
  const valid = { products: ['movement', 'tef'] };

  test.each<readonly [string, unknown, readonly string[]]>([
    ['an unknown product', { products: ['tef', 'secrets'] }, ['/products/1']],
    ['a locale of 36 characters', { ...valid, locale: 'x'.repeat(36) }, ['/locale']],
    [
      'control characters',
      { ...valid, user: { email: 'a@b.example\r\nBcc: c' }, locale: 'es\u009bCL' },
      ['/user/email', '/locale'],
    ],
  ])('is refused by pointer: %s', (_, body, pointers) => {
    const parsed = parseSessionRequest(body, company);
    if (parsed.kind === 'valid') throw new Error('It should be refused.');
    expect(parsed.violations.map(({ pointer }) => pointer)).toEqual(pointers);
  });
});
