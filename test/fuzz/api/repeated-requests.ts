import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { callers, eventOf, type RequestPlan } from '../generators/api-event.ts';
import { type Json, textOf, validRequest } from '../generators/extraction-request.ts';
import { mutatedJson } from '../generators/mutated-json.ts';
import { fuzzProperty } from '../property.ts';
import { inOneForm, respelled } from '../respelled-json.ts';
import { apiWorld } from './api-world.ts';
import { undocumentedIn, verdictOn } from './expected-answer.ts';

type Fields = { readonly [name: string]: Json };

/** Says what is left unsaid, or the other way around. */
const withDefaults = (request: Fields): Fields => ({
  priority: 'interactive',
  ...(request.method === 'consent' ? { variant: 'v1' } : { method: 'credentials' }),
  ...request,
});

/** What differs at every honest retry of encrypted credentials: the ciphertext, and the token that keys it. */
const encryptedAgain = (request: Fields): Fields =>
  (request.credentials as Fields | undefined)?.mode === 'encrypted'
    ? {
        ...request,
        credentials: { mode: 'encrypted', value: 'other-ciphertext' },
        sessionToken: 'other-token',
      }
    : request;

/** What two requests have to agree in to be one and the same (design, section 6), and the password, of which eight bits count. */
const meaning = (body: Buffer): { readonly all: unknown; readonly exceptPassword: unknown } => {
  // Through JSON once more: -0 is 0 there, and a number that is none is null.
  const {
    sessionToken: _sessionToken,
    target: _target,
    confirmed,
    priority,
    credentials,
    ...request
  } = withDefaults(JSON.parse(JSON.stringify(JSON.parse(body.toString()))) as Fields);
  const { mode, value } = { ...(credentials as Fields | undefined) };
  const { password: _password, ...fields } = { ...(mode === 'raw' ? (value as Fields) : {}) };
  const common = {
    ...request,
    isConfirmed: confirmed === true,
    isBackground: priority === 'background',
    mode,
  };
  return {
    all: inOneForm({ ...common, value: mode === 'encrypted' ? '' : value }),
    exceptPassword: inOneForm({ ...common, value: mode === 'persisted' ? value : fields }),
  };
};

/** What API Gateway and STS change from one session of a role to the next. */
const principal = (caller: string): string => caller.split('/').slice(0, 2).join('/');

/** A request, and the same one or one that is near it. */
const pair = validRequest.chain((request) =>
  fc.tuple(
    fc.constant(request),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant<Json>(request) },
      { weight: 4, arbitrary: mutatedJson(fc.constant<Json>(request)) },
    ),
  ),
);

export const repeatedRequests = fuzzProperty({
  name: 'api/repeated-requests',
  claim:
    'under one key of one caller, the same request is one extraction, for every spelling and session; another request is refused and changes nothing; another caller has separate keys',
  weight: 10,
  expected: { replayed: 0.15, 'key reused': 0.03, 'another caller': 0.1 },
  cases: fc.record({
    pair,
    escapes: fc.boolean(),
    defaults: fc.boolean(),
    again: fc.boolean(),
    firstCaller: fc.constantFrom(...callers),
    secondCaller: fc.constantFrom(...callers),
    key: fc.constantFrom('key', ' ', 'x'.repeat(255)),
  }),
  check: async (
    { pair: [request, other], escapes, defaults, again, firstCaller, secondCaller, key },
    see,
  ) => {
    const vary = (one: Json): Json => {
      if (typeof one !== 'object' || one === null || Array.isArray(one)) return one;
      const said = defaults ? withDefaults(one as Fields) : (one as Fields);
      return again ? encryptedAgain(said) : said;
    };
    const plan = (body: string, caller: string): RequestPlan => ({
      body: Buffer.from(body),
      base64: false,
      idempotencyKey: key,
      caller,
      contentType: undefined,
    });
    const first = plan(textOf(request), firstCaller);
    const second = plan(respelled(vary(other), escapes), secondCaller);
    if (verdictOn(first) !== 'accepted' || verdictOn(second) !== 'accepted') {
      see('not two requests');
      return;
    }
    const world = apiWorld();
    const one = await world.request(eventOf(first));
    assert.equal(one.statusCode, 202);
    const records = new Map(world.records);
    const two = await world.request(eventOf(second));
    assert.deepEqual(undocumentedIn(two), []);

    if (principal(firstCaller) !== principal(secondCaller)) {
      see('another caller');
      assert.equal(two.statusCode, 202);
      assert.equal(world.records.size, 2);
      return;
    }
    const [asked, askedAgain] = [meaning(first.body), meaning(second.body)];
    // One other password in 256 has the same eight bits.
    const isCollision =
      two.statusCode === 200 && isDeepStrictEqual(asked.exceptPassword, askedAgain.exceptPassword);
    const same = isDeepStrictEqual(asked.all, askedAgain.all) || isCollision;
    see(same ? 'replayed' : 'key reused');
    assert.equal(two.statusCode, same ? 200 : 422, two.body);
    assert.deepEqual(world.records, records);
    if (same) {
      assert.equal(two.body, one.body);
      assert.equal(two.headers?.location, one.headers?.location);
      assert.equal(two.headers?.['idempotency-replayed'], 'true');
    } else assert.equal(world.started.length, 1);
  },
});
