import '../quiet-log.ts';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { answerConsentRequest, type ConsentEvent } from '#lib/consents/answer-consent-request.ts';
import { cacheTaskTokens, createTaskToken } from '#lib/provider/tokens/task-tokens.ts';
import { answering } from '../../support/data/canned-connection.ts';
import { schemaNamed, violationsOf } from '../../unit/docs/openapi-document.ts';
import { undocumentedOf } from '../api/expected-answer.ts';
import { anyUnits } from '../generators/any-text.ts';
import { damagedBytes } from '../generators/damaged-bytes.ts';
import { type Json, textOf } from '../generators/extraction-request.ts';
import { mutatedJson } from '../generators/mutated-json.ts';
import { hasRightCheckDigit, nationalId } from '../generators/national-id.ts';
import { validSession } from '../generators/session-request.ts';
import { isHalf, jsonOf, notJson } from '../json-of-body.ts';
import { fuzzProperty } from '../property.ts';

const routes = [
  'POST /consent-sessions',
  'GET /consents',
  'GET /consents/{consentId}',
  'GET /consents/{consentId}/pdf',
  'POST /consents/{consentId}/revoke',
] as const;
type Route = (typeof routes)[number];

const apiKey = 'SENTINEL-api-key';
const taskToken = 'SENTINEL-task-token';
/** A text in refusals of the provider, which no answer may contain. */
const refusalText = 'SENTINEL-refusal';

const consent: Json = {
  id: 'c-1',
  products: ['movement'],
  tyc: { actualVersion: 1 },
  entity: { id: 'bank', name: 'Bank', type: 'bank' },
  status: 'ACTIVE',
  validUntil: '2027-01-01T00:00:00.000Z',
};

/** What the provider answers to each route's call, as documented. */
const documented: Record<Route, Json> = {
  'POST /consent-sessions': { data: { otpToken: 'otp', consentId: 'c-1' } },
  'GET /consents': { data: { consents: [consent], hasNext: false, count: 1 } },
  'GET /consents/{consentId}': { data: consent },
  'GET /consents/{consentId}/pdf': { data: { url: 'https://provider.example/c.pdf' } },
  'POST /consents/{consentId}/revoke': {
    data: { consentId: 'c-1', status: 'INACTIVE', subStatus: 'REVOKED' },
  },
};

const misfitsOfSession = violationsOf(schemaNamed('ConsentSessionRequest'));
const misfitsOfTarget = violationsOf(schemaNamed('NationalId'));
const undocumentedBy = new Map(routes.map((route) => [route, undocumentedOf(route)]));

/** Whether docs/openapi.yaml and docs/api.md accept the body of a session. */
const sessionIsTaken = (body: Buffer): boolean => {
  const json = jsonOf(body);
  if (json === notJson || misfitsOfSession(json).length > 0) return false;
  const { user = {}, locale } = json as { user?: { username?: string; email?: string }; locale?: string };
  return (
    (user.username === undefined || hasRightCheckDigit(user.username)) &&
    !isHalf(user.email) &&
    !isHalf(locale)
  );
};

const queryIsTaken = (query: Readonly<Record<string, string>>): boolean =>
  Object.entries(query).every(
    ([name, value]) => (name === 'page' || name === 'limit') && /^[1-9][0-9]{0,8}$/.test(value),
  );

const query = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Record<string, string>>({}) },
  {
    weight: 1,
    arbitrary: fc.dictionary(
      fc.constantFrom('page', 'limit', 'Page', 'constructor'),
      fc.oneof(
        fc.constantFrom('1', '10', '0', '-1', '1.5', '1e3', ' 1', '999999999', '1000000000', ''),
        anyUnits(),
      ),
      { maxKeys: 2 },
    ),
  },
);

const sessionBytes = fc
  .oneof(validSession, mutatedJson(validSession))
  .map((session) => Buffer.from(textOf(session)));

const provided = (route: Route): fc.Arbitrary<{ status: number; body: string } | 'no answer'> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant({ status: 200, body: JSON.stringify(documented[route]) }) },
    {
      weight: 2,
      arbitrary: mutatedJson(fc.constant(documented[route])).map((body) => ({
        status: 200,
        body: textOf(body),
      })),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        status: fc.constantFrom(302, 400, 401, 403, 404, 408, 409, 410, 422, 429, 500, 503),
        body: fc.constantFrom('', refusalText, `{"message":"${refusalText}"}`),
      }),
    },
    { weight: 1, arbitrary: fc.constant('no answer' as const) },
  );

const cases = fc.constantFrom(...routes).chain((route) =>
  fc.record({
    route: fc.constant(route),
    target: fc.oneof(
      { weight: 5, arbitrary: nationalId as fc.Arbitrary<string | undefined> },
      { weight: 1, arbitrary: fc.constantFrom(undefined, '', '11111111-2', '11.111.111-1 ', '0') },
      { weight: 1, arbitrary: anyUnits({ maxLength: 12 }) },
    ),
    consentId: fc.oneof(
      {
        weight: 3,
        arbitrary: fc.constantFrom<string | undefined>('c-1', undefined, '', '.', '..', 'a/b', '%2e%2e'),
      },
      { weight: 1, arbitrary: anyUnits({ minLength: 1, maxLength: 20 }) },
    ),
    query,
    body: fc.oneof(
      { weight: 8, arbitrary: sessionBytes },
      { weight: 1, arbitrary: damagedBytes(sessionBytes) },
      { weight: 1, arbitrary: fc.constant(Buffer.alloc(16_385, ' ')) },
    ),
    answer: provided(route),
    tokenAnswer: fc.oneof(
      { weight: 8, arbitrary: fc.constant({ status: 200, body: JSON.stringify({ data: { taskToken } }) }) },
      {
        weight: 1,
        arbitrary: fc.constantFrom({ status: 403, body: refusalText }, { status: 200, body: '{}' }),
      },
    ),
  }),
);

const wellFormedTarget = (target: string | undefined): target is string =>
  target !== undefined && misfitsOfTarget(target).length === 0 && hasRightCheckDigit(target);

export const consentRoutes = fuzzProperty({
  name: 'consents/consent-routes',
  claim:
    'for every request and every answer of the provider, the answer is documented and quotes neither; a request that is not documented does not reach the provider',
  weight: 8,
  expected: { refused: 0.15, accepted: 0.1, 'provider failed': 0.1 },
  cases,
  check: async ({ route, target, consentId, query, body, answer, tokenAnswer }, see) => {
    const { connection, calls } = answering(({ url }) => {
      if (url.endsWith('/api/v1/token/task')) return tokenAnswer;
      if (answer === 'no answer') throw new Error('SENTINEL-transport');
      return answer;
    });
    const event: ConsentEvent = {
      routeKey: route,
      requestContext: { authorizer: { iam: { userArn: 'arn:aws:iam::111122223333:user/caller' } } },
      headers: target === undefined ? {} : { 'cosecha-target': target },
      pathParameters: consentId === undefined ? {} : { consentId },
      queryStringParameters: query,
      body: body.toString('base64'),
      isBase64Encoded: true,
    };
    const given = await answerConsentRequest(event, {
      connection,
      taskTokens: cacheTaskTokens({
        create: (user) =>
          createTaskToken(connection, apiKey, {
            target: user,
            clientId: '5d5f0f0c-6b0e-4d0f-9d5e-2f6a3c1b7e10',
          }).then((made) => made.taskToken),
        lifetimeMs: 60_000,
        now: () => new Date(0),
      }),
      withApiKey: (call) => call(apiKey),
      clientId: () => '5d5f0f0c-6b0e-4d0f-9d5e-2f6a3c1b7e10',
      widgetConfigId: () => 'widget',
      telemetry: { log: () => undefined },
    });
    const status = given.statusCode ?? 0;

    assert.deepEqual(undocumentedBy.get(route)?.(given), [], given.body);
    assert.ok(
      !JSON.stringify(given).includes('SENTINEL'),
      'the answer contains a secret or a text of the provider',
    );
    assert.ok(target === undefined || target.length < 6 || !JSON.stringify(given).includes(target));

    const isTaken =
      wellFormedTarget(target) &&
      (route !== 'POST /consent-sessions' || (body.length <= 16_384 && sessionIsTaken(body))) &&
      (route !== 'GET /consents' || queryIsTaken(query));
    if (!isTaken) {
      see('refused');
      const isTooLarge = route === 'POST /consent-sessions' && body.length > 16_384;
      assert.equal(status, isTooLarge && wellFormedTarget(target) ? 413 : 400);
      assert.deepEqual(calls, []);
      return;
    }
    see(status < 300 ? 'accepted' : 'provider failed');
    assert.ok(status !== 400 && status !== 413 && status !== 500, `answered ${status}: ${given.body}`);
    if (status < 300) assert.equal(given.headers?.['cache-control'], 'no-store');
  },
});
