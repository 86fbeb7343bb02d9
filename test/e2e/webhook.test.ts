import { randomUUID } from 'node:crypto';
import { PutSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { describe, expect, inject, test } from 'vitest';
import type { Plan } from '../../sandbox/plan-schemas.ts';
import { stackName } from './deployment.ts';
import { aws } from './support/aws.ts';
import { deliveriesEnded, extractWith, provider } from './support/call-extractions.ts';
import { historyOf, transitionsIn } from './support/execution.ts';
import { closed, readRecord, recordWhere, statusesOf } from './support/records.ts';
import { endWebhookWait, quietlyRunning, running, taskItem } from './support/running-extractions.ts';
import { secret } from './support/searched-secrets.ts';

const { webhookUrl } = inject('cosecha');

describe('a delivery', () => {
  test('that arrives before the start call is answered settles the extraction through start-task', async () => {
    const { extractionId } = await extractWith({ start: [{ kind: 'finish-first' }] });
    expect(await closed(extractionId)).toMatchObject({ status: 'COMPLETED', settledBy: 'start' });
    expect(transitionsIn(await historyOf(extractionId))).toBe(1);
  });

  test('that is repeated, late or contradictory changes nothing after the first', async () => {
    const { extractionId, taskId } = await running({
      webhook: { duplicate: 2, keepRetryingAfterSuccess: true, scheduleMs: [0, 300, 600, 900, 1_200] },
    });
    await provider.finish(taskId, 'PARTIAL');

    const record = await closed(extractionId);
    expect(record).toMatchObject({ status: 'PARTIAL', settledBy: 'webhook' });
    await deliveriesEnded(taskId);
    expect(await provider.deliverTask(taskId, { statusOverride: 'FAILED' })).toMatchObject({ status: 204 });
    const { deliveries } = await provider.task(taskId);
    expect(deliveries.length).toBeGreaterThanOrEqual(16);
    // A busy machine may answer some 5xx. Every other answer is 204.
    const answered = deliveries.filter(({ status = 500 }) => status < 500);
    expect(new Set(answered.map(({ status }) => status))).toEqual(new Set([204]));
    expect(answered.length).toBeGreaterThan(1);
    expect(await readRecord(extractionId)).toEqual(record);
    expect(statusesOf(extractionId)).toEqual(['REQUESTED', 'STARTING', 'RUNNING', 'PARTIAL']);
  });

  test('for a task of no extraction is stored and answered 204', async () => {
    const taskId = `orphan-${randomUUID()}`;
    expect(await provider.deliver({ taskId, taskStatus: 'COMPLETED' })).toMatchObject({ status: 204 });
    expect(await taskItem(taskId)).toMatchObject({ taskStatus: 'COMPLETED' });
  });
});

test('a request that is no signed delivery is refused and changes nothing', async () => {
  const { extractionId, taskId } = await quietlyRunning();
  const before = { item: await taskItem(taskId), record: await readRecord(extractionId) };

  const refused = { statusOverride: 'COMPLETED' } as const;
  for (const tamper of ['signature', 'missing', 'malformed', 'truncated', 'non-ascii', 'body'] as const) {
    const answer = await provider.deliverTask(taskId, { ...refused, tamper });
    expect(answer, tamper).toMatchObject({ status: 401 });
    expect(answer.body, tamper).not.toContain(taskId);
  }
  const forged = await provider.deliverTask(taskId, { ...refused, signingKey: 'not the key' });
  expect(forged).toMatchObject({ status: 401 });
  for (const raw of ['', 'not json', '[]', '{"taskId":7}', '{"data":"AAAA-AAAA"}', 'null']) {
    const garbage = await provider.deliverTask(taskId, { ...refused, raw });
    expect(garbage, raw).toMatchObject({ status: 400 });
  }
  const large = await fetch(webhookUrl, { method: 'POST', body: 'x'.repeat(1024 * 1024) });
  expect(large.status).toBe(413);

  expect(await taskItem(taskId)).toEqual(before.item);
  expect(await readRecord(extractionId)).toEqual(before.record);
  await provider.finish(taskId, 'COMPLETED');
  await endWebhookWait(extractionId);
  await closed(extractionId);
});

test('no delivery is lost when the signing key is rotated', async () => {
  const rotated = secret('signing key', `rotated-${randomUUID()}`);
  const plans: readonly Plan[] = [
    {},
    {},
    { webhook: { signingKey: rotated } },
    { webhook: { signingKey: rotated } },
  ];
  const extractions = await Promise.all(plans.map((plan) => running(plan)));

  const finish = (index: number) => provider.finish(extractions[index]?.taskId ?? '', 'COMPLETED');
  await Promise.all([finish(0), finish(2)]);
  await aws.secrets.send(
    new PutSecretValueCommand({
      SecretId: `${stackName}/webhook-signing-key`,
      SecretString: rotated,
    }),
  );
  await Promise.all([finish(1), finish(3)]);

  for (const { extractionId } of extractions) {
    const record = await recordWhere(extractionId, 'settled', ({ settledAt }) => settledAt !== undefined);
    expect(record).toMatchObject({ status: 'COMPLETED', settledBy: 'webhook' });
  }
});
