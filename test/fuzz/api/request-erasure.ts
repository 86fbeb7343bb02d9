import '../quiet-log.ts';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { answerErasure } from '#lib/extraction/api/answer-erasure.ts';
import { at, extractionIn } from '../../support/data/extraction-fixtures.ts';
import { memoryTelemetry } from '../../support/data/memory-telemetry.ts';
import { memoryErasureStore } from '../../support/stores/memory-erasure-store.ts';
import { schemaNamed, violationsOf } from '../../unit/docs/openapi-document.ts';
import { anyUnits } from '../generators/any-text.ts';
import { damagedBytes } from '../generators/damaged-bytes.ts';
import { isHalf, jsonOf, notJson } from '../json-of-body.ts';
import { fuzzProperty } from '../property.ts';
import { undocumentedOf } from './expected-answer.ts';

const undocumentedIn = undocumentedOf('POST /erasures');
const misfits = violationsOf(schemaNamed('ErasureRequest'));

const owner = 'arn:aws:sts::111122223333:assumed-role/Caller';
const id = '0190a0b0-0000-7000-8000-00000000000a';

const scope = fc.oneof(
  fc.record({ reference: fc.oneof(fc.constant('person'), anyUnits({ maxLength: 300 })) }),
  fc.record({
    extractionId: fc.oneof(fc.constantFrom(id, '', '%00'), fc.uuid(), anyUnits({ maxLength: 70 })),
  }),
  fc.dictionary(fc.constantFrom('reference', 'extractionId', 'requestedBy', 'constructor'), fc.jsonValue()),
);

export const requestErasure = fuzzProperty({
  name: 'api/request-erasure',
  claim:
    'an erasure is recorded for what the caller itself requested, as documented; everything else is refused and changes nothing',
  weight: 5,
  expected: { recorded: 0.1, refused: 0.1, 'not found': 0.05 },
  cases: fc.record({
    body: fc.oneof(
      { weight: 4, arbitrary: scope.map((one) => Buffer.from(JSON.stringify(one))) },
      { weight: 1, arbitrary: damagedBytes(scope.map((one) => Buffer.from(JSON.stringify(one)))) },
    ),
    caller: fc.constantFrom(owner, `${owner}2`),
  }),
  check: async ({ body, caller }, see) => {
    const erasures = memoryErasureStore();
    const sent: unknown[] = [];
    const answer = await answerErasure(
      {
        routeKey: 'POST /erasures',
        body: body.toString('base64'),
        isBase64Encoded: true,
        requestContext: { authorizer: { iam: { userArn: `${caller}/session` } } },
      },
      {
        extractions: {
          get: async (asked) =>
            asked === id ? { ...extractionIn('COMPLETED'), extractionId: id, requestedBy: owner } : undefined,
        },
        index: { find: async () => ({ entries: [] }) },
        erasures,
        tombstones: async function* () {},
        send: async (message) => void sent.push(message),
        fingerprintKey: async () => 'fingerprint-key',
        newId: () => '0190a0b0-0000-4000-8000-00000000000b',
        now: () => at(0),
        telemetry: memoryTelemetry().telemetry,
      },
    );
    assert.deepEqual(undocumentedIn(answer), []);
    const json = jsonOf(body);
    const { reference, extractionId } = Object(json === notJson ? {} : json) as Record<string, unknown>;
    const isTaken =
      json !== notJson && misfits(json).length === 0 && !isHalf(reference) && !isHalf(extractionId);
    if (answer.statusCode === 202) {
      see('recorded');
      assert.ok(isTaken);
      assert.ok(reference !== undefined || (extractionId === id && caller === owner));
      const [erasure] = [...erasures.items.erasures.values()];
      assert.deepEqual([erasure?.requestedBy, erasure?.reference, sent.length], [caller, reference, 1]);
      return;
    }
    see(answer.statusCode === 404 ? 'not found' : 'refused');
    // A parser that keeps the last of two names takes the body.
    const isAmbiguous = answer.body?.includes('must occur once') === true;
    assert.equal(answer.statusCode === 404, isTaken && !isAmbiguous);
    assert.deepEqual([erasures.items.erasures.size, sent.length], [0, 0]);
  },
});
