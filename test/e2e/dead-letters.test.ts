/** @module-tag slow */

import { ReceiveMessageCommand, SendMessageCommand, SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { describe, expect, inject, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { planFault } from './injected-failures/plan-function-faults.ts';
import { aws } from './support/aws.ts';
import { provider } from './support/call-extractions.ts';
import { reportBrokenExecution } from './support/execution.ts';
import { closed } from './support/records.ts';
import { cosecha, factsOf } from './support/run-cosecha.ts';
import { quietlyRunning } from './support/running-extractions.ts';
import { sweepUntilClosed } from './support/sweep-until-closed.ts';

const { DeadLetterQueueUrl: QueueUrl, ReconcileQueueUrl } = inject('cosecha').outputs;

const send = async (MessageBody: string): Promise<string> =>
  (await aws.queues.send(new SendMessageCommand({ QueueUrl, MessageBody }))).MessageId ?? '';

/** As in infra/constructs/reconcile-queue.ts. */
const receives = 5;

/** In seconds. With a short one other messages may be received twice, which does no harm. */
const setVisibilityTimeout = (seconds: number) =>
  aws.queues.send(
    new SetQueueAttributesCommand({
      QueueUrl: ReconcileQueueUrl,
      Attributes: { VisibilityTimeout: String(seconds) },
    }),
  );

/** The messages of the queue. They stay visible to others. */
const peek = async () => {
  const request = { QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 0 };
  return (await aws.queues.send(new ReceiveMessageCommand(request))).Messages ?? [];
};

// One at a time, and in this order: redrive takes every dead letter, and the search for leaks is to find a real one.
describe('dead letters', { concurrent: false }, () => {
  test('redrive reconciles the extraction of a dead letter, and keeps one of somebody else until that is named', async () => {
    const { extractionId, taskId } = await quietlyRunning();
    await provider.finish(taskId, 'COMPLETED');
    const known = await send(JSON.stringify({ extractionId, cause: 'webhook' }));
    const unknown = await send('no dead letter of Cosecha');

    const { code, stdout, stderr } = await cosecha(['redrive', '--json']);
    expect(stderr).toBe('');
    const results = factsOf({ stdout });
    expect(results.find(({ messageId }) => messageId === known)).toMatchObject({
      outcome: 'done',
      extractionId,
    });
    expect(results.find(({ messageId }) => messageId === unknown)).toMatchObject({
      outcome: 'unknown',
      body: 'no dead letter of Cosecha',
    });
    expect(code).toBe(1);
    expect(await closed(extractionId)).toMatchObject({ status: 'COMPLETED' });

    await eventually(async () => expect((await peek()).map(({ MessageId }) => MessageId)).toContain(unknown));
    const removing = await cosecha(['redrive', '--remove', unknown, '--json']);
    expect(factsOf(removing)).toContainEqual({ messageId: unknown, outcome: 'removed' });
    expect((await peek()).map(({ MessageId }) => MessageId)).not.toContain(unknown);
  });

  test('a message whose consumer is killed at every receive becomes one, and the sweep closes the extraction', async () => {
    const { extractionId, taskId } = await quietlyRunning();
    const fault = await planFault({
      operation: 'DynamoDB_20120810.GetItem',
      during: [extractionId, 'execution-broken'],
      when: 'before',
      times: receives,
      effect: { kind: 'exit' },
    });
    try {
      await setVisibilityTimeout(1);
      await reportBrokenExecution(extractionId);
      await eventually(async () =>
        expect((await peek()).map(({ Body }) => Body).join('\n')).toContain(extractionId),
      );
    } finally {
      await setVisibilityTimeout(720);
    }
    // The last consumer may still start when its message is a dead letter already.
    await eventually(() => expect(fault.wasInjected()).toBe(true));
    await provider.finish(taskId, 'COMPLETED');
    expect(await sweepUntilClosed(extractionId)).toMatchObject({
      status: 'COMPLETED',
      settledBy: 'reconcile',
    });
  });
});
