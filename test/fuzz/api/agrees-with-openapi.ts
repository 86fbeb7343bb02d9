import assert from 'node:assert/strict';
import fc from 'fast-check';
import { decodeSealed, encodeSealed, type SealedRequestData } from '#lib/extraction/sealed-request-data.ts';
import type { BodyViolation } from '#lib/http/body-fields.ts';
import { eventOf, requestPlan } from '../generators/api-event.ts';
import { jsonOf } from '../json-of-body.ts';
import { fuzzProperty, type See } from '../property.ts';
import { apiWorld } from './api-world.ts';
import { undocumentedIn, verdictOn } from './expected-answer.ts';

const namesIn = (pointer: string): readonly string[] => {
  assert.match(pointer, /^(\/([^~]|~[01])*)?$/, `${pointer} is no JSON pointer`);
  const names = pointer.split('/').slice(1);
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
};

const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === 'object' && value !== null;

/** RFC 6901: whether the pointer leads to something, to a member that its parent lacks, or nowhere. */
const resolve = (json: unknown, pointer: string): 'there' | 'missing' | 'nowhere' => {
  const names = namesIn(pointer);
  let value = json;
  for (const [index, name] of names.entries()) {
    if (!isObject(value)) return 'nowhere';
    if (!Object.hasOwn(value, name)) return index === names.length - 1 ? 'missing' : 'nowhere';
    value = value[name];
  }
  return 'there';
};

const assertPointersResolve = (json: unknown, errors: readonly BodyViolation[], see: See): void => {
  assert.ok(errors.length > 0, 'refused without a violation');
  for (const { pointer, detail } of errors) {
    const found = resolve(json, pointer);
    see(found);
    assert.notEqual(found, 'nowhere', `${pointer} leads nowhere`);
    if (found === 'missing') assert.notEqual(detail, 'is not a known field', pointer);
    if (detail === 'is required') assert.equal(found, 'missing', pointer);
  }
};

type Sent = { readonly [name: string]: unknown };

/** What is sealed is what was sent, number by number. */
const assertSealed = (sealed: SealedRequestData | undefined, sent: Sent): void => {
  assert.ok(sealed !== undefined);
  const { method, target, credentials, sessionToken, confirmed } = sent;
  const secrets = method === 'consent' ? { target } : { credentials, sessionToken, confirmed };
  assert.deepEqual(decodeSealed(encodeSealed(sealed)), JSON.parse(JSON.stringify(secrets)));
};

export const agreesWithOpenapi = fuzzProperty({
  name: 'api/agrees-with-openapi',
  claim:
    'what is accepted, answered and written is what docs/openapi.yaml and docs/api.md say; a refusal writes nothing',
  weight: 20,
  expected: {
    accepted: 0.15,
    'not set up': 0.01,
    schema: 0.2,
    'not JSON': 0.05,
    key: 0.02,
    size: 0.005,
    'wrong check digit': 0.001,
    'number changes': 0.01,
    'not UTF-8 before': 0.005,
    'too much to seal': 0.02,
    there: 0.1,
    missing: 0.02,
  },
  cases: fc.record({ plan: requestPlan, consentsSetUp: fc.boolean() }),
  check: async ({ plan, consentsSetUp }, see) => {
    const verdict = verdictOn(plan, consentsSetUp);
    const world = apiWorld({ consentsSetUp });
    const answer = await world.request(eventOf(plan));
    see(verdict === 'accepted' ? verdict : verdict.rule);
    const { statusCode, headers = {}, body = '' } = answer;
    assert.equal(statusCode, verdict === 'accepted' ? 202 : verdict.status, body);
    assert.deepEqual(undocumentedIn(answer), []);
    const done = [world.sealed.length, world.requests.size, world.records.size, world.started.length];
    assert.deepEqual(done, Array(4).fill(verdict === 'accepted' ? 1 : 0));
    assert.ok(Buffer.byteLength(body) <= 64 * 1024, 'the answer is larger than the largest request');

    const { extractionId, errors } = JSON.parse(body) as { extractionId?: string; errors?: BodyViolation[] };
    const sent = jsonOf(plan.body);
    if (errors !== undefined) assertPointersResolve(sent, errors, see);
    if (verdict === 'accepted') {
      assert.equal(headers.location, `/extractions/${extractionId}`);
      const [[sealedFor, sealed] = []] = world.sealed;
      assert.equal(sealedFor, extractionId);
      assertSealed(sealed, sent as Sent);
    } else if (verdict.rule === 'too much to seal') {
      // Without violations, where thousands of levels were not read.
      for (const { pointer } of errors ?? []) assert.equal(pointer, '/credentials');
    }
  },
});
