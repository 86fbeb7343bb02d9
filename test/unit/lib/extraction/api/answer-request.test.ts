import { expect, test } from 'vitest';
import { type AnswerRequestDeps, answerRequest } from '../../../../../lib/extraction/api/answer-request.ts';

test('a request without a caller starts nothing', async () => {
  const event = { headers: {}, requestContext: {}, body: '{}' };
  const answer = await answerRequest(event, {} as AnswerRequestDeps);
  expect(answer.statusCode).toBe(401);
});
