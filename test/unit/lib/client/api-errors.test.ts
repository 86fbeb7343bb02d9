import { expect, test } from 'vitest';
import { ApiError } from '#lib/client/api-errors.ts';
import { sendWithRetries } from '#lib/client/send-with-retries.ts';
import { problem } from '#lib/http/problem.ts';

test('a problem of the service is a sentence and a line for each violation', () => {
  const errors = [
    { pointer: '/actions/0/id', detail: 'must be one of movement, tef' },
    { pointer: '', detail: 'must be a JSON object' },
  ];
  const { body = '' } = problem('invalid-request', { errors });
  const { lines, violations } = new ApiError(400, body);
  expect(violations).toEqual(errors);
  expect(lines).toEqual([
    'The service answered 400: The request is not valid.',
    '  /actions/0/id must be one of movement, tef',
    '  the body must be a JSON object',
  ]);
});

const forbidden =
  'API Gateway answered 403: Forbidden. These credentials need execute-api:Invoke on this route, and must not have expired.';

test.each([
  ['Forbidden', 0, forbidden],
  ['Forbidden', 4, forbidden],
  [
    'Forbidden',
    -7,
    /: Forbidden\. The clock of this machine is 7 min behind that of AWS\. Set this machine's clock\.$/,
  ],
  [
    'The security token included in the request is expired',
    0,
    /\. The credentials have expired\. Log in again\.$/,
  ],
  [
    'The security token included in the request is invalid.',
    0,
    /invalid\. AWS does not know these credentials\./,
  ],
  ['Signature expired: 20261126T1 is now earlier than 20261126T2', 0, /\. Set this machine's clock\.$/],
  [
    'Signature not yet current: 20261126T2 is still later than 20261126T1',
    0,
    /\. Set this machine's clock\.$/,
  ],
  [
    'The request signature we calculated does not match the signature you provided',
    0,
    /The secret access key is not that of the access key\.$/,
  ],
])('a 403 of API Gateway names its cause: %s, with a clock %d min off', (message, minutesOff, sentence) => {
  expect(new ApiError(403, JSON.stringify({ message }), minutesOff).lines).toEqual([
    typeof sentence === 'string' ? sentence : expect.stringMatching(sentence),
  ]);
});

test('the clock of this machine is compared with the answer', async () => {
  const date = new Date(Date.now() + 20 * 60_000).toUTCString();
  const fetch = async () => new Response('{"message":"Forbidden"}', { status: 403, headers: { date } });
  const sending = sendWithRetries('https://api.example', {}, { fetch, sleep: async () => {} });
  await expect(sending).rejects.toThrow('The clock of this machine is 20 min behind that of AWS.');
});

test('an answer without a problem is described by its status', () => {
  expect(new ApiError(502, '<html>').lines).toEqual(['API Gateway answered 502: no reason given.']);
});
