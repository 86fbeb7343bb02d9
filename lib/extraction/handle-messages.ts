import * as v from 'valibot';
import type { Telemetry } from '../observability/telemetry.ts';

/** A message as Lambda delivers it. */
export type ReceivedMessage = { readonly messageId: string; readonly body: string };

/**
 * The messages that SQS delivers again after the visibility timeout, and at last moves to the dead-letter queue. Lambda deletes all others:
 * "Reporting batch item failures", https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
 */
export type BatchAnswer = { readonly batchItemFailures: readonly { readonly itemIdentifier: string }[] };

type Handling<Message> = {
  readonly queue: 'reconcile queue' | 'erase queue';
  readonly schema: v.GenericSchema<unknown, Message>;
  /** What the log lines of a message are about. */
  readonly aboutOf: (message: Message) => { readonly extractionId?: string };
  readonly handle: (message: Message) => Promise<unknown>;
  readonly telemetry: Telemetry;
};

/** Whether the message is done. */
const handleMessage = async <Message>(body: string, handling: Handling<Message>): Promise<boolean> => {
  const { queue, schema, aboutOf, handle, telemetry } = handling;
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), body);
  // Cosecha did not write it.
  if (!parsed.success) {
    telemetry.failure(`A message of the ${queue} could not be read.`, undefined);
    return false;
  }
  const message = parsed.output;
  const about = aboutOf(message);
  telemetry.about(about);
  try {
    await handle(message);
    return true;
  } catch (error) {
    telemetry.failure(`A message of the ${queue} could not be handled.`, error, about);
    return false;
  }
};

/** Handles the messages one after another, because results may be large. A failure is logged, and its message stays in the queue. */
export const handleMessages = async <Message>(
  messages: readonly ReceivedMessage[],
  handling: Handling<Message>,
): Promise<BatchAnswer> => {
  const failed: { itemIdentifier: string }[] = [];
  for (const { messageId, body } of messages)
    if (!(await handleMessage(body, handling))) failed.push({ itemIdentifier: messageId });
  return { batchItemFailures: failed };
};
