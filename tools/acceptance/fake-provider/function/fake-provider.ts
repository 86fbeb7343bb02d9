import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { SQSEvent } from 'aws-lambda';
import { handle, type LambdaEvent } from 'hono/aws-lambda';
import { readSecret } from '../../../../lib/aws/read-secret.ts';
import { patientClient, patientQueueClient } from '../../../../lib/aws/wiring/aws-client-timeouts.ts';
import { requiredVariable } from '../../../../lib/aws/wiring/environment.ts';
import { cachedRead } from '../../../../lib/cached-read.ts';
import { backgroundHandler } from '../../../../lib/observability/background-handler.ts';
import { telemetry } from '../../../../lib/observability/powertools-telemetry.ts';
import { createApp } from './app.ts';
import type { ProviderPorts } from './call.ts';
import { type Delivery, deliver, secretKeptSeconds } from './deliver.ts';

/** "Each attempt waits at most 5 seconds for the answer" ("Events", rule 8). */
const attemptTimeoutMs = 5_000;

const secrets = new SecretsManagerClient(patientClient);
const sqs = new SQSClient(patientQueueClient);
const registrationSecret = requiredVariable('REGISTRATION_SECRET');
const tokenKeySecret = requiredVariable('TOKEN_KEY_SECRET');
const queueUrl = requiredVariable('DELIVERY_QUEUE_URL');

/** Anybody on the internet can call, so that a secret is not read for each call. */
const kept = <Value>(read: () => Promise<Value>) => cachedRead(secretKeptSeconds, () => new Date(), read);

const ports: ProviderPorts = {
  now: () => Math.floor(Date.now() / 1_000),
  nonce: () => randomBytes(4).toString('base64url'),
  sleep: (seconds) => setTimeout(seconds * 1_000),
  tokenKey: kept(() => readSecret(secrets, tokenKeySecret)),
  registration: kept(async () => JSON.parse(await readSecret(secrets, registrationSecret))),
  post: async (url, body, headers) => {
    const { status } = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(attemptTimeoutMs),
    });
    telemetry.log('Webhook answered.', { status });
    return status;
  },
  queue: async (delivery, DelaySeconds) => {
    await sqs.send(
      new SendMessageCommand({ QueueUrl: queueUrl, DelaySeconds, MessageBody: JSON.stringify(delivery) }),
    );
  },
};

const answer = handle(createApp(ports));

/** Plays the provider for one stage: answers the calls of its API, and sends the webhooks that are due in the queue. */
const playProvider = async (event: LambdaEvent | SQSEvent) => {
  if (!('Records' in event)) return answer(event);
  for (const { body } of event.Records) await deliver(JSON.parse(body) as Delivery, ports);
  return undefined;
};

export const handler = backgroundHandler(playProvider);
