import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { type AnswerRequestDeps, answerRequest } from '../../../../../lib/extraction/api/answer-request.ts';
import { clock, id, timings } from '../../../../support/data/extraction-fixtures.ts';
import { memoryTelemetry } from '../../../../support/data/memory-telemetry.ts';
import { memoryExtractionStore } from '../../../../support/stores/memory-extraction-store.ts';
import { memoryRequestStore } from '../../../../support/stores/memory-request-store.ts';

const caller = { authorizer: { iam: { userArn: 'arn:aws:iam::111122223333:user/u' } } };

test('a request without a caller starts nothing', async () => {
  const event = { headers: {}, requestContext: {}, body: '{}' };
  const answer = await answerRequest(event, {} as AnswerRequestDeps);
  expect(answer.statusCode).toBe(401);
});

test('a body of more than 64 KiB is too large', async () => {
  const event = { headers: {}, requestContext: caller, body: 'x'.repeat(65_537) };
  const answer = await answerRequest(event, {} as AnswerRequestDeps);
  expect(answer.statusCode).toBe(413);
});

test('a request is logged with its entity, once', async () => {
  const { telemetry, progress } = memoryTelemetry();
  const deps: AnswerRequestDeps = {
    extractions: memoryExtractionStore(),
    requests: memoryRequestStore(),
    seal: async () => 'sealed',
    startExecution: async () => undefined,
    newRequestId: randomUUID,
    sendsWebhooks: true,
    newId: () => id,
    fingerprintKey: async () => 'key',
    assertConsentsSetUp: () => undefined,
    now: clock().now,
    timings,
    telemetry,
  };
  const body = JSON.stringify({
    method: 'credentials',
    entity: 'bank',
    credentials: { mode: 'raw', value: { username: 'SENTINEL', password: 'SENTINEL' } },
    actions: [{ id: 'tef' }],
  });
  const event = { headers: { 'idempotency-key': 'order-1' }, requestContext: caller, body };
  expect(await answerRequest(event, deps)).toMatchObject({ statusCode: 202 });
  expect(await answerRequest(event, deps)).toMatchObject({ statusCode: 200 });
  expect(progress).toEqual([
    ['Extraction requested.', { outcome: 'accepted', entity: 'bank' }],
    ['Extraction requested.', { outcome: 'replayed' }],
  ]);
});
