import middy from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { expect, test } from 'vitest';
import { answerFailures } from '../../../../../lib/aws/wiring/answer-failures.ts';
import { NotConfigured } from '../../../../../lib/not-configured.ts';
import { capturedLog } from '../../../../support/captured-log.ts';

const log = capturedLog();

const answerTo = (error: Error): Promise<APIGatewayProxyStructuredResultV2> =>
  middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>()
    .use(answerFailures())
    .handler(async () => {
      throw error;
    })({} as APIGatewayProxyEventV2, {} as Context);

test('a secret that is not filled is 503, and the log names it', async () => {
  const answer = await answerTo(new NotConfigured('secret', 'stack/webhook-signing-key'));
  expect(answer.statusCode).toBe(503);
  expect(answer.body).not.toContain('signing-key');
  expect(log.lines()).toContain('stack/webhook-signing-key');
});

test('a setting that is not given is 503, and the log names it', async () => {
  const answer = await answerTo(new NotConfigured('setting', 'providerClientId'));
  expect(answer.statusCode).toBe(503);
  expect(answer.body).not.toContain('providerClientId');
  expect(log.lines()).toContain('providerClientId');
});

test('anything else is 500, and neither the answer nor the log quotes it', async () => {
  const answer = await answerTo(new Error('SENTINEL', { cause: new Error('SENTINEL') }));
  expect(answer.statusCode).toBe(500);
  expect(JSON.parse(answer.body ?? '')).toMatchObject({ type: 'urn:cosecha:problem:internal', status: 500 });
  expect(JSON.stringify(answer)).not.toContain('SENTINEL');
  expect(log.lines()).toContain('The request failed.');
  expect(log.lines()).not.toContain('SENTINEL');
});
