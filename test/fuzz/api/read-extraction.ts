import '../quiet-log.ts';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { answerRead } from '#lib/extraction/api/answer-read.ts';
import { allStatuses, at, consentIn, extractionIn, iso } from '../../support/data/extraction-fixtures.ts';
import { memoryTelemetry } from '../../support/data/memory-telemetry.ts';
import { memoryExtractionStore } from '../../support/stores/memory-extraction-store.ts';
import { anyUnits } from '../generators/any-text.ts';
import { fuzzProperty } from '../property.ts';
import { undocumentedOf } from './expected-answer.ts';

const undocumentedIn = undocumentedOf('GET /extractions/{extractionId}');

const owner = 'arn:aws:sts::111122223333:assumed-role/Caller';
const reader = 'arn:aws:sts::111122223333:assumed-role/Auditor';
const id = '0190a0b0-0000-7000-8000-00000000000a';

const notFound = {
  statusCode: 404,
  headers: { 'content-type': 'application/problem+json' },
  body: '{"type":"urn:cosecha:problem:not-found","title":"There is no such extraction.","status":404}',
};

export const readExtraction = fuzzProperty({
  name: 'api/read-extraction',
  claim:
    'an extraction can be read by its requester and by readers, as documented; every other id and caller gets the same 404',
  weight: 5,
  expected: { read: 0.15, 'not found': 0.3 },
  cases: fc.record({
    asked: fc.oneof(
      { weight: 3, arbitrary: fc.constant<string | undefined>(id) },
      {
        weight: 2,
        arbitrary: fc.constantFrom<string | undefined>(
          undefined,
          '',
          id.toUpperCase(),
          `${id} `,
          `urn:uuid:${id}`,
          `{${id}}`,
          '../extractions',
          '%00',
          '__proto__',
          '00000000-0000-0000-0000-000000000000',
        ),
      },
      { weight: 1, arbitrary: fc.uuid() },
      { weight: 1, arbitrary: anyUnits({ maxLength: 40 }) },
    ),
    caller: fc.constantFrom(
      `${owner}/one`,
      `${owner}/two/three`,
      `${owner}2/one`,
      `${reader}/one`,
      'arn:aws:iam::111122223333:user/Caller',
      'arn:aws:sts::444455556666:assumed-role/Caller/one',
      '',
    ),
    status: fc.constantFrom(...allStatuses),
    byConsent: fc.boolean(),
    collected: fc.boolean(),
    days: fc.constantFrom(0, 29, 31),
  }),
  check: async ({ asked, caller, status, byConsent, collected, days }, see) => {
    const extractions = memoryExtractionStore();
    const results = { bucket: 'b', key: 'k', bytes: 2, sha256: '0'.repeat(64) };
    const record = {
      ...(byConsent ? consentIn(status) : extractionIn(status)),
      extractionId: id,
      requestedBy: owner,
      ...(collected ? { results, collectedAt: iso(60) } : {}),
    };
    extractions.items.set(id, record);
    const answer = await answerRead(
      {
        ...(asked === undefined ? {} : { pathParameters: { extractionId: asked } }),
        requestContext: { authorizer: { iam: { userArn: caller } } },
      },
      {
        extractions,
        readers: new Set([reader]),
        presign: async () => ({ url: 'https://results.example/k', expiresAt: iso(360) }),
        now: () => at(60 + days * 86_400),
        retentionDays: 30,
        telemetry: memoryTelemetry().telemetry,
      },
    );
    const mayRead = caller.startsWith(`${owner}/`) || caller.startsWith(`${reader}/`);
    if (asked !== id || !mayRead) {
      see('not found');
      assert.deepEqual(answer, notFound);
      return;
    }
    see('read');
    assert.equal(answer.statusCode, 200);
    // Neither are attributes of the service's own documented, such as the fingerprint.
    assert.deepEqual(undocumentedIn(answer), []);
    assert.equal('results' in JSON.parse(answer.body ?? ''), collected && days < 30);
    assert.equal(answer.headers?.['cache-control'], 'no-store');
  },
});
