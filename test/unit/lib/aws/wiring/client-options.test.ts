import { KMSClient, ListAliasesCommand } from '@aws-sdk/client-kms';
import { expect, test } from 'vitest';
import { intakeClient } from '../../../../../lib/aws/wiring/client-options.ts';
import { resourcesOf, synthesize } from '../../../infra/synth.ts';

/** What the SDK's handler of requests throws for a try without an answer. */
const noAnswer = Object.assign(new Error('no answer'), { name: 'TimeoutError', code: 'ETIMEDOUT' });

/** A cold start, and the other three calls, in milliseconds. */
const othersMs = 4_000;
/** API Gateway waits no longer for an integration. */
const apiGatewayMs = 30_000;

test('one call of request-extraction may hang for 10 s, and the function still answers in its time', async () => {
  let tries = 0;
  const client = new KMSClient({
    ...intakeClient,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'a-secret' },
    requestHandler: {
      handle: async () => {
        tries += 1;
        throw noAnswer;
      },
    },
  });
  const { $metadata } = await client.send(new ListAliasesCommand({})).then(
    () => ({ $metadata: {} }),
    (error) => error,
  );
  const hangMs = tries * intakeClient.requestHandler.requestTimeout;
  // The SDK pauses for a random part of 50 ms, and doubles that with each try.
  const pausesMs = 50 * (2 ** (tries - 1) - 1);
  expect($metadata).toMatchObject({ attempts: tries });
  expect(hangMs).toBeGreaterThanOrEqual(10_000);
  const [lambda] = Object.entries(resourcesOf(synthesize().template, 'AWS::Lambda::Function')).filter(
    ([id]) => id.startsWith('RequestExtraction'),
  );
  const timeoutMs = 1_000 * Number(lambda?.[1].Properties.Timeout);
  expect(hangMs + pausesMs + othersMs).toBeLessThanOrEqual(timeoutMs);
  expect(timeoutMs).toBeLessThan(apiGatewayMs);
});
