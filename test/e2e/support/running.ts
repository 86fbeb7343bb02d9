import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { expect, inject, vi } from 'vitest';
import { aws } from './aws.ts';
import { extract, requestFor } from './extractions.ts';
import { inStatus } from './records.ts';

const { outputs } = inject('cosecha');

/** What the private table says of a task. */
export const taskRow = async (taskId: string) => {
  const { Item } = await aws.dynamo.send(
    new GetItemCommand({
      TableName: outputs.TasksTableName,
      Key: marshall({ taskId }),
      ConsistentRead: true,
    }),
  );
  return Item === undefined ? undefined : unmarshall(Item);
};

/** An extraction whose task runs until the test ends it, and is linked already. */
export const running = async (username: string) => {
  const extractionId = await extract(requestFor(username));
  const { taskId = '' } = await inStatus(extractionId, 'RUNNING');
  // The private table has no stream to wait on.
  const isLinked = async () => expect(await taskRow(taskId)).toMatchObject({ extractionId });
  await vi.waitFor(isLinked, { timeout: 30_000, interval: 100 });
  return { extractionId, taskId };
};
