import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { SendTaskSuccessCommand, SFNClient } from '@aws-sdk/client-sfn';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { promptClient, promptQueueClient } from '../../../lib/aws/wiring/client-options.ts';

const database = new DynamoDBClient(promptClient);
const queue = new SQSClient(promptQueueClient);
const machine = new SFNClient(promptClient);

const set = async (
  TableName: string | undefined,
  key: Record<string, string>,
  fields: Record<string, string>,
) => {
  const names = Object.keys(fields);
  const { Attributes } = await database.send(
    new UpdateItemCommand({
      TableName,
      Key: marshall(key),
      UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
      ExpressionAttributeValues: marshall(
        Object.fromEntries(Object.entries(fields).map(([name, value]) => [`:${name}`, value])),
      ),
      ReturnValues: 'ALL_NEW',
    }),
  );
  return unmarshall(Attributes ?? {});
};

/**
 * The four calls to AWS that a delivery needs, with the same SDK and options. It verifies no signature, sends no
 * condition, logs nothing and counts nothing.
 */
export const bareHandler = async ({ body = '' }: APIGatewayProxyEventV2) => {
  const { taskId, taskStatus } = JSON.parse(body) as { taskId: string; taskStatus: string };
  const task = await set(
    process.env.TASKS_TABLE,
    { taskId },
    { taskStatus, notifiedAt: new Date().toISOString() },
  );
  const extractionId = String(task.extractionId);
  await set(
    process.env.EXTRACTIONS_TABLE,
    { extractionId },
    { status: taskStatus, settledAt: new Date().toISOString() },
  );
  await queue.send(
    new SendMessageCommand({
      QueueUrl: process.env.RECONCILE_QUEUE_URL,
      MessageBody: JSON.stringify({ extractionId, cause: 'webhook' }),
    }),
  );
  await machine.send(
    new SendTaskSuccessCommand({
      taskToken: String(task.callbackToken),
      output: JSON.stringify({ extractionId }),
    }),
  );
  return { statusCode: 204 };
};
