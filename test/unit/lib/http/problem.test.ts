import { expect, test } from 'vitest';
import { type ProblemType, problem } from '../../../../lib/http/problem.ts';

const bodyOf = (type: ProblemType, more?: Parameters<typeof problem>[1]): unknown =>
  JSON.parse(problem(type, more).body ?? '');

test.each<readonly [ProblemType, number]>([
  ['invalid-request', 400],
  ['unauthorized', 401],
  ['not-found', 404],
  ['provider-forbids', 403],
  ['consent-not-found', 404],
  ['consent-conflict', 409],
  ['too-large', 413],
  ['idempotency-key-reused', 422],
  ['provider-refused', 422],
  ['internal', 500],
  ['provider-failed', 502],
  ['unavailable', 503],
])('%s is an RFC 9457 answer of %i', (type, status) => {
  const answer = problem(type);
  expect(answer.statusCode).toBe(status);
  expect(answer.headers).toMatchObject({ 'content-type': 'application/problem+json' });
  expect(bodyOf(type)).toEqual({
    type: `urn:cosecha:problem:${type}`,
    title: expect.stringMatching(/^[A-Z].*\.$/),
    status,
  });
});

test('violations and a detail are told along', () => {
  const errors = [{ pointer: '/entity', detail: 'is required' }];
  expect(bodyOf('invalid-request', { errors, detail: 'Two things.' })).toMatchObject({
    errors,
    detail: 'Two things.',
  });
});

test('only what may pass soon asks to be tried again', () => {
  expect(problem('unavailable').headers).toHaveProperty('retry-after');
  expect(problem('invalid-request').headers).not.toHaveProperty('retry-after');
});
