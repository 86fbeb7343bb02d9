import { expect, test } from 'vitest';
import {
  type AnswerReadDeps,
  answerRead,
  availableResults,
} from '../../../../../lib/extraction/api/answer-read.ts';
import { closedExtraction, id } from '../../../../support/data/extraction-fixtures.ts';
import { memoryTelemetry } from '../../../../support/data/memory-telemetry.ts';

const results = { bucket: 'b', key: 'k', bytes: 1, sha256: 's' };
const collectedAt = '2026-01-01T00:00:00.000Z';

test('results are available until their retention is over', () => {
  expect(availableResults({ results, collectedAt }, new Date('2026-01-30T23:59:59.999Z'), 30)).toEqual(
    results,
  );
  expect(
    availableResults({ results, collectedAt }, new Date('2026-01-31T00:00:00.000Z'), 30),
  ).toBeUndefined();
});

const roleOf = (name: string): string => `arn:aws:sts::111122223333:assumed-role/${name}`;
const [owner, reader, stranger] = [roleOf('Owner'), roleOf('Reader'), roleOf('Stranger')];

const readAs = async (role: string, extractionId = id) => {
  const presigned: unknown[] = [];
  const record = closedExtraction({ requestedBy: owner, status: 'COMPLETED', results, collectedAt });
  const answer = await answerRead(
    {
      pathParameters: { extractionId },
      requestContext: { authorizer: { iam: { userArn: `${role}/session` } } },
    },
    {
      extractions: { get: async (asked) => (asked === id ? record : undefined) },
      readers: new Set([reader]),
      presign: async (stored) => {
        presigned.push(stored);
        return { url: 'https://results.example', expiresAt: collectedAt };
      },
      now: () => new Date(collectedAt),
      retentionDays: 30,
      telemetry: memoryTelemetry().telemetry,
    },
  );
  return { answer, presigned };
};

test('any other caller gets the answer for an id that does not exist, and no link is made', async () => {
  const { answer, presigned } = await readAs(stranger);
  expect(answer.statusCode).toBe(404);
  expect({ answer, presigned }).toEqual(await readAs(stranger, '0190a0b0-0000-7000-8000-00000000ffff'));
  expect(presigned).toEqual([]);
});

test('a request without a caller reads nothing', async () => {
  const answer = await answerRead({ requestContext: {} }, {} as AnswerReadDeps);
  expect(answer.statusCode).toBe(401);
});
