import type { APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { expect, test } from 'vitest';
import { Throttled } from '#lib/aws/step-functions.ts';
import { httpHandler } from '#lib/aws/wiring/http-handler.ts';
import { problem } from '#lib/http/problem.ts';
import { NotConfigured } from '#lib/not-configured.ts';
import { capturedLog } from '../../../../support/data/captured-log.ts';

const log = capturedLog();

const context = { awsRequestId: 'request-1' } as Context;

const answerOf = (
  handle: () => Promise<APIGatewayProxyStructuredResultV2>,
): Promise<APIGatewayProxyStructuredResultV2> => httpHandler<object>(handle)({}, context);

const answerTo = (error: Error) =>
  answerOf(async () => {
    throw error;
  });

test('a secret that is missing is 503, and only the log names it', async () => {
  const name = 'stack/webhook-signing-key';
  const answer = await answerTo(new NotConfigured('secret', name));
  expect(answer.statusCode).toBe(503);
  expect(answer.body).not.toContain(name);
  expect(log.lines()).toContain(name);
});

test('a setting that is missing is 501, as no retry helps, and the answer says what to set', async () => {
  const answer = await answerTo(new NotConfigured('setting', 'providerClientId'));
  expect(answer).toMatchObject({ statusCode: 501, headers: { 'content-type': 'application/problem+json' } });
  expect(answer.headers).not.toHaveProperty('retry-after');
  expect(JSON.parse(answer.body ?? '')).toMatchObject({
    type: 'urn:cosecha:problem:setting-missing',
    detail: expect.stringMatching(
      /^The setting providerClientId is not set\..*or as a property of the construct/,
    ),
  });
  expect(log.lines()).toContain('providerClientId');
});

test('calls that AWS throttles are 503, with when to try again', async () => {
  const answer = await answerTo(new Throttled('Step Functions throttles StartExecution.'));
  expect(answer).toMatchObject({ statusCode: 503, headers: { 'retry-after': '5' } });
});

test('anything else is 500, and neither the answer nor the log quotes it', async () => {
  const answer = await answerTo(new Error('SENTINEL', { cause: new Error('SENTINEL') }));
  expect(answer.statusCode).toBe(500);
  expect(JSON.parse(answer.body ?? '')).toMatchObject({ type: 'urn:cosecha:problem:internal', status: 500 });
  expect(JSON.stringify(answer)).not.toContain('SENTINEL');
  expect(log.lines()).toContain('The request failed.');
  expect(log.lines()).not.toContain('SENTINEL');
});

test.each([
  ['internal', () => answerTo(new Error('any'))],
  ['unavailable', () => answerTo(new NotConfigured('secret', 'any'))],
  ['provider-failed', () => answerOf(async () => problem('provider-failed'))],
] as const)('the 5xx %s names the request, as the log does', async (type, answer) => {
  expect(JSON.parse((await answer()).body ?? '')).toEqual({
    ...JSON.parse(problem(type).body ?? ''),
    requestId: 'request-1',
  });
});

test('an answer below 500 stays as it is', async () => {
  for (const answer of [problem('invalid-request'), { statusCode: 204 }]) {
    expect(await answerOf(async () => answer)).toEqual(answer);
  }
});
