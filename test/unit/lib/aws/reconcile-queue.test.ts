import type { SQSClient } from '@aws-sdk/client-sqs';
import { expect, test } from 'vitest';
import { sendReconcileBatchTo, sendReconcileTo } from '../../../../lib/aws/reconcile-queue.ts';
import {
  parseReconcileMessage,
  type ReconcileMessage,
} from '../../../../lib/extraction/reconcile-message.ts';
import { stubClient } from '../../../support/stub-client.ts';

test('a message is held back for its delay, and read by the consumer as it was sent', async () => {
  const { client, sent } = stubClient<SQSClient>(() => ({}));
  const message = { extractionId: 'e-1', cause: 'due', dueAt: '2026-03-01T12:00:05.000Z' } as const;
  await sendReconcileTo(client, 'queue')(message, 5);
  await sendReconcileTo(client, 'queue')({ extractionId: 'e-1', cause: 'webhook' });
  expect(sent.map(({ input }) => input.DelaySeconds)).toEqual([5, 0]);
  expect(parseReconcileMessage(String(sent[0]?.input.MessageBody))).toEqual(message);
});

test('the messages of a batch that the queue refuses are returned, although it answers 200', async () => {
  const messages = ['a', 'b', 'c', 'd'].map(
    (extractionId): ReconcileMessage => ({ extractionId, cause: 'sweep' }),
  );
  const refused = new Set(['b', 'd']);
  const { client } = stubClient<SQSClient>(({ input }) => {
    const entries = input.Entries as readonly { Id: string; MessageBody: string }[];
    const idsOf = (isRefused: boolean) =>
      entries.flatMap(({ Id, MessageBody }) =>
        refused.has(parseReconcileMessage(MessageBody)?.extractionId ?? '') === isRefused ? [{ Id }] : [],
      );
    return { Successful: idsOf(false), Failed: idsOf(true) };
  });
  expect(await sendReconcileBatchTo(client, 'queue')(messages)).toEqual([messages[1], messages[3]]);
});
