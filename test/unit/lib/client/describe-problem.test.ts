import { expect, test } from 'vitest';
import { ApiError } from '../../../../lib/client/api-errors.ts';
import { describeProblem } from '../../../../lib/client/describe-problem.ts';
import { problem } from '../../../../lib/http/problem.ts';

const errors = [
  { pointer: '/actions/0/id', detail: 'must be one of movement, tef' },
  { pointer: '', detail: 'must be a JSON object' },
];

test('the error of the client has the violations with their pointers', () => {
  const { body = '' } = problem('invalid-request', { errors });
  expect(new ApiError(400, body).violations).toEqual(errors);
  expect(new ApiError(404, problem('not-found').body ?? '').violations).toEqual([]);
  expect(new ApiError(502, '<html>').violations).toEqual([]);
});

test('a problem of the service is a sentence and a line for each violation', () => {
  const { body = '' } = problem('invalid-request', { errors });
  expect(describeProblem(400, body)).toEqual([
    'The service answered 400: The request is not valid.',
    '  /actions/0/id must be one of movement, tef',
    '  the body must be a JSON object',
  ]);
});

test('an answer of API Gateway itself names the permission that is missing', () => {
  expect(describeProblem(403, '{"message":"Forbidden"}')).toEqual([
    'API Gateway answered 403: Forbidden. These credentials need execute-api:Invoke on this route.',
  ]);
});

test('an answer without a problem is described by its status', () => {
  expect(describeProblem(502, '<html>')).toEqual(['API Gateway answered 502: no reason given.']);
});
