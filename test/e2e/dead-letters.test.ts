import { DeleteMessageCommand, ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { describe, expect, inject, test } from 'vitest';
import { aws } from './support/aws.ts';
import { reportBrokenExecution, runningWithoutExecution } from './support/broken-execution.ts';
import { eventually } from './support/eventually.ts';
import { plannedUsername, provider } from './support/extractions.ts';
import { planFault } from './support/faults.ts';
import { cosecha, factsOf } from './support/operator.ts';
import { closed } from './support/records.ts';
import { running } from './support/running.ts';
import { inAnHour, moveDueTime, sweepUntilClosed } from './support/sweep.ts';

const { DeadLetterQueueUrl: QueueUrl } = inject('cosecha').outputs;

const send = async (MessageBody: string): Promise<string | undefined> =>
  (await aws.queues.send(new SendMessageCommand({ QueueUrl, MessageBody }))).MessageId;

/** The messages of the queue. They stay visible to others. */
const peek = async () => {
  const request = { QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 0 };
  return (await aws.queues.send(new ReceiveMessageCommand(request))).Messages ?? [];
};

// One at a time, and in this order: redrive takes every dead letter, and the search for leaks is to find a real one.
describe('dead letters', { concurrent: false }, () => {
  test('redrive reconciles the extraction of a dead letter, and keeps a message that it does not know', async () => {
    const { extractionId, taskId } = await running(
      await plannedUsername({ durationMs: null, webhook: { enabled: false } }),
    );
    await provider.finish(taskId, 'COMPLETED');
    const failed = { trigger: 'execution-broken', extractionId };
    const known = await send(
      JSON.stringify({ requestContext: {}, requestPayload: failed, responsePayload: {} }),
    );
    const unknown = await send('no dead letter of Cosecha');

    const { code, stdout, stderr } = await cosecha(['redrive', '--json']);
    expect(stderr).toBe('');
    const results = factsOf({ stdout });
    expect(results.find(({ messageId }) => messageId === known)).toMatchObject({
      outcome: 'done',
      extractionId,
    });
    expect(results.find(({ messageId }) => messageId === unknown)).toMatchObject({ outcome: 'unknown' });
    expect(code).toBe(1);
    expect(await closed(extractionId)).toMatchObject({ status: 'COMPLETED' });

    const kept = await eventually(async () => {
      const message = (await peek()).find(({ MessageId }) => MessageId === unknown);
      expect(message).toBeDefined();
      return message;
    });
    await aws.queues.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: kept?.ReceiptHandle }));
  });

  test('reconcile-extraction leaves one when it is killed at every try, and the sweep closes the extraction', async () => {
    const { extractionId, taskId } = await runningWithoutExecution();
    await moveDueTime(extractionId, inAnHour());
    const fault = await planFault({
      operation: 'DynamoDB_20120810.GetItem',
      during: [extractionId, '"execution-broken"'],
      when: 'before',
      times: 2,
      effect: { kind: 'exit' },
    });
    await reportBrokenExecution(extractionId);

    await eventually(async () =>
      expect((await peek()).map(({ Body }) => Body).join('\n')).toContain(extractionId),
    );
    expect(fault.wasInjected()).toBe(true);
    await provider.finish(taskId, 'COMPLETED');
    expect(await sweepUntilClosed(extractionId)).toMatchObject({
      status: 'COMPLETED',
      settledBy: 'reconcile',
    });
  });
});
