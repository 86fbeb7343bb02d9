import { expect, test } from 'vitest';
import {
  type AnswerReadDeps,
  answerRead,
  availableResults,
} from '../../../../../lib/extraction/api/answer-read.ts';

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

test('a record without results has none available', () => {
  expect(availableResults({ collectedAt }, new Date(collectedAt), 30)).toBeUndefined();
  expect(availableResults({}, new Date(collectedAt), 30)).toBeUndefined();
});

test('a request without a caller reads nothing', async () => {
  const answer = await answerRead({ requestContext: {} }, {} as AnswerReadDeps);
  expect(answer.statusCode).toBe(401);
});
