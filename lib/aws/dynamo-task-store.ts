import {
  type ConditionalCheckFailedException,
  type DynamoDBClient,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { defined } from '../defined.ts';
import type { Task, TaskStore } from '../extraction/store.ts';
import { conditional, getItem } from './items.ts';

type Item = Parameters<typeof unmarshall>[0];

const toTask = (item: Item | undefined): Task => unmarshall(item ?? {}) as Task;

/** How long a task is kept. Deliveries stop within minutes, and grace ends within a day. */
const retentionSeconds = 30 * 24 * 3600;

export const taskExpiry = (now: Date): number => Math.floor(now.getTime() / 1000) + retentionSeconds;

const exists = 'attribute_exists(taskId)';
const isNotErased = 'attribute_not_exists(isErased)';
const isUnlinked = 'attribute_not_exists(extractionId)';
const isOfTheExtraction = 'extractionId = :extraction';
const hasNoToken = 'attribute_not_exists(callbackAttempt)';
const isOfNoLaterAttempt = 'callbackAttempt <= :attempt';

/** The table `Tasks` on DynamoDB. `link`, `recordStatus` and `adopt` are each one atomic update (design, section 4). */
export const dynamoTaskStore = (client: DynamoDBClient, table: string, now: () => Date): TaskStore => {
  const expiry = () => taskExpiry(now());
  /** Makes one update. `task` is the item after it. If the condition failed, it is the stored item. */
  const update = async (
    taskId: string,
    { set, condition, values }: { readonly set: string; readonly condition: string; readonly values: object },
  ): Promise<{ readonly task: Task; readonly refusal: ConditionalCheckFailedException | undefined }> => {
    const { output, refusal } = await conditional(
      client.send(
        new UpdateItemCommand({
          TableName: table,
          Key: marshall({ taskId }),
          UpdateExpression: `SET ${set}`,
          ConditionExpression: condition,
          ExpressionAttributeValues: marshall(values),
          ReturnValues: 'ALL_NEW',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
    );
    return { task: toTask(refusal === undefined ? output.Attributes : refusal.Item), refusal };
  };
  /** Updates an item only if it exists, and returns it. */
  const updateExisting = async (taskId: string, set: string, values: object): Promise<Task | undefined> => {
    const condition = `${exists} AND ${isNotErased}`;
    const { task, refusal } = await update(taskId, { set, condition, values });
    return refusal === undefined ? task : undefined;
  };
  /** Updates or creates an item unless it is erased. Returns the item after that. */
  const updateUnlessErased = async (taskId: string, set: string, values: object): Promise<Task> => {
    const { task, refusal } = await update(taskId, { set, condition: isNotErased, values });
    if (refusal !== undefined && refusal.Item === undefined) throw refusal;
    return task;
  };
  return {
    link: async ({ taskId, extractionId, callbackToken, callbackAttempt, ...ofCredentials }) => {
      const { credentialsMac, isConfirmed, afterMark } = ofCredentials;
      // A repeated link may no longer have these.
      const known = defined({ credentialsMac, isConfirmed, afterMark });
      const { task } = await update(taskId, {
        set:
          'extractionId = :extraction, callbackToken = :token, callbackAttempt = :attempt, ' +
          Object.keys(known)
            .map((name) => `${name} = :${name}, `)
            .join('') +
          'expiresAt = if_not_exists(expiresAt, :expiry)',
        condition:
          `${isNotErased} AND (${isUnlinked} OR ` +
          `(${isOfTheExtraction} AND (${hasNoToken} OR ${isOfNoLaterAttempt})))`,
        values: {
          ':extraction': extractionId,
          ':token': callbackToken,
          ':attempt': callbackAttempt,
          ':expiry': expiry(),
          ...Object.fromEntries(Object.entries(known).map(([name, value]) => [`:${name}`, value])),
        },
      });
      return task;
    },

    recordStatus: ({ taskId, taskStatus, notifiedAt }) =>
      updateUnlessErased(
        taskId,
        'taskStatus = if_not_exists(taskStatus, :status), ' +
          'notifiedAt = if_not_exists(notifiedAt, :at), ' +
          'firstStatus = if_not_exists(firstStatus, :status), ' +
          'noticedAt = if_not_exists(noticedAt, :at), ' +
          'expiresAt = if_not_exists(expiresAt, :expiry)',
        { ':status': taskStatus, ':at': notifiedAt, ':expiry': expiry() },
      ),

    adopt: (taskId, extractionId) =>
      updateUnlessErased(
        taskId,
        'extractionId = if_not_exists(extractionId, :extraction), expiresAt = if_not_exists(expiresAt, :expiry)',
        { ':extraction': extractionId, ':expiry': expiry() },
      ),

    notice: (taskId, firstStatus, noticedAt) =>
      updateExisting(
        taskId,
        'firstStatus = if_not_exists(firstStatus, :status), noticedAt = if_not_exists(noticedAt, :at)',
        { ':status': firstStatus, ':at': noticedAt },
      ),

    setMarked: async (taskId) => {
      await updateExisting(taskId, 'isMarked = :marked', { ':marked': true });
    },

    get: (taskId) => getItem<Task>(client, table, { taskId }),
  };
};
