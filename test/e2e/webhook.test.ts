import { randomUUID } from 'node:crypto';
import { expect, inject, test } from 'vitest';
import { provider } from './support/call-extractions.ts';
import { closed, readRecord } from './support/records.ts';
import { endWebhookWait, quietlyRunning, taskItem } from './support/running-extractions.ts';

const { webhookUrl } = inject('cosecha');

test('a delivery for a task of no extraction is stored and answered 204', async () => {
  const taskId = `orphan-${randomUUID()}`;
  expect(await provider.deliver({ taskId, taskStatus: 'COMPLETED' })).toMatchObject({ status: 204 });
  expect(await taskItem(taskId)).toMatchObject({ taskStatus: 'COMPLETED' });
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
