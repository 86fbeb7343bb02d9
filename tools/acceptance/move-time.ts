import { setTimeout as delay } from 'node:timers/promises';
import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SFNClient } from '@aws-sdk/client-sfn';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { dynamoTaskStore } from '../../lib/aws/dynamo-task-store.ts';
import { failTask } from '../../lib/aws/step-functions.ts';
import type { Extraction } from '../../lib/extraction/record.ts';
import type { TaskStore } from '../../lib/extraction/store.ts';
import type { Deployment } from '../cli/aws/deployment.ts';
import { openStream } from '../cli/aws/follow-stream.ts';
import { sweepNow } from '../cli/operate/invoke-functions.ts';
import { referencePrefix } from './checks/request-and-await.ts';

/** Longer than any window that is moved. */
const hourSeconds = 3_600;

type Mover = Pick<Deployment, 'output'> & {
  readonly dynamo: DynamoDBClient;
  readonly tasks: TaskStore;
  readonly endWait: ReturnType<typeof endWait>;
  readonly lambda: LambdaClient;
  readonly signal: AbortSignal;
};

const anHourAgo = (): string => new Date(Date.now() - hourSeconds * 1_000).toISOString();

/**
 * Ends the wait of a callback token: the machine goes on to poll, as after the timeout of the state. The error of a timeout is
 * reserved, and this one is never retried either.
 */
export const endWait = (client: SFNClient) => (token: string) =>
  failTask(client)(token, 'StartWindowOver', 'The wait is over.');

/** Ends the execution's wait for the webhook, once start-task has linked the task. */
const endWebhookWait = async ({ taskId = '' }: Extraction, mover: Mover): Promise<void> => {
  for (;;) {
    const token = (await mover.tasks.get(taskId))?.callbackToken;
    if (token !== undefined) return mover.endWait(token);
    await delay(200, undefined, { signal: mover.signal });
  }
};

const update = async (
  { extractionId }: Extraction,
  UpdateExpression: string,
  values: Readonly<Record<string, unknown>>,
  { dynamo, output }: Mover,
): Promise<void> => {
  await dynamo.send(
    new UpdateItemCommand({
      TableName: output('ExtractionsTableName'),
      Key: marshall({ extractionId }),
      UpdateExpression,
      ExpressionAttributeValues: marshall(values),
    }),
  );
};

const passDeadline = async (record: Extraction, mover: Mover): Promise<void> => {
  // Not before the request, which the audit would find.
  await update(record, 'SET deadlineAt = :t', { ':t': new Date().toISOString() }, mover);
  await endWebhookWait(record, mover);
};

/** Lets the record be closed for longer than the timeout of reconcile-extraction, before which erase refuses it. */
const ageClosed = (record: Extraction, mover: Mover): Promise<void> =>
  update(
    record,
    'SET requestedAt = :t, startingAt = :t, startedAt = :t, settledAt = :t, collectedAt = :t, expiresAt = expiresAt - :hour',
    { ':t': anHourAgo(), ':hour': hourSeconds },
    mover,
  );

/** A window that a check waits for: the record with which it has begun, and how it ends. */
type Window = {
  readonly at: (record: Extraction) => boolean;
  readonly ends: (record: Extraction, mover: Mover) => Promise<unknown>;
};

/** By the id of the check. Each ends once for an extraction. */
const windows: Readonly<Record<string, readonly Window[]>> = {
  'webhook-lost': [{ at: ({ status }) => status === 'RUNNING', ends: endWebhookWait }],
  'timeout-corrected': [
    { at: ({ status }) => status === 'RUNNING', ends: passDeadline },
    // The correction is collected by the sweep.
    {
      at: ({ status, collectedAt }) => status === 'PARTIAL' && collectedAt === undefined,
      ends: (_, { lambda, output }) => sweepNow(lambda, output('SweepFunctionName')),
    },
  ],
  erase: [
    { at: ({ dueShard, settledAt }) => dueShard === undefined && settledAt !== undefined, ends: ageClosed },
  ],
};

/**
 * Ends the windows that checks of `npm run accept` wait for, on an emulator and in an upgrade: it moves times of their records into
 * the past instead of waiting. Returns once the stream is followed; it ends with `signal`.
 */
export const moveTime = async (
  { client, output }: Pick<Deployment, 'client' | 'output'>,
  signal: AbortSignal,
): Promise<void> => {
  const dynamo = new DynamoDBClient(client);
  const mover: Mover = {
    output,
    signal,
    dynamo,
    tasks: dynamoTaskStore(dynamo, output('TasksTableName'), () => new Date()),
    endWait: endWait(new SFNClient(client)),
    lambda: new LambdaClient(client),
  };
  const ended = new Set<string>();
  const follow = async (records: Awaited<ReturnType<typeof openStream>>): Promise<void> => {
    for await (const { dynamodb } of records) {
      if (dynamodb?.NewImage === undefined) continue;
      const record = unmarshall(dynamodb.NewImage as Parameters<typeof unmarshall>[0]) as Extraction;
      const checkId = record.reference?.slice(referencePrefix.length) ?? '';
      for (const [index, { at, ends }] of (windows[checkId] ?? []).entries()) {
        const key = `${record.extractionId} ${index}`;
        if (!at(record) || ended.has(key)) continue;
        ended.add(key);
        // Not awaited: other checks wait for theirs.
        void ends(record, mover).catch(() => undefined);
      }
    }
  };
  const streams = new DynamoDBStreamsClient(client);
  const records = await openStream(streams, output('ExtractionsStreamArn'), signal);
  // It ends by an AbortError. After any other error the checks fail, as their windows last too long for them.
  void follow(records).catch(() => undefined);
};
