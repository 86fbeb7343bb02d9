import assert from 'node:assert/strict';
import type { Answer } from './webhook-world.ts';

const problem = (status: number, type: string, title: string, more: Record<string, string> = {}) => ({
  statusCode: status,
  headers: { 'content-type': 'application/problem+json', ...more },
  body: `{"type":"urn:cosecha:problem:${type}","title":"${title}","status":${status}}`,
});

/** Every answer that `POST /webhooks/provider` may give, to the byte. None has room for anything of the input. */
const webhookAnswers: Readonly<Record<number, Answer>> = {
  204: { statusCode: 204 },
  400: problem(400, 'invalid-request', 'The request is not valid.'),
  401: problem(401, 'unauthorized', 'The request could not be authenticated.'),
  413: problem(413, 'too-large', 'The request is too large.'),
  500: problem(500, 'internal', 'Something went wrong on our side. Try again.'),
  503: problem(503, 'unavailable', 'The service cannot answer now. Try again.', { 'retry-after': '5' }),
};

/** Holds an answer to be one of these, to the byte. */
export const assertAnswer = (answer: Answer, ...statuses: readonly number[]): void => {
  assert.ok(
    statuses.includes(answer.statusCode ?? 0),
    `answered ${answer.statusCode}, not ${statuses.join(' or ')}`,
  );
  assert.deepEqual(answer, webhookAnswers[answer.statusCode ?? 0]);
};
