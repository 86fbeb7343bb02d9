import {
  BatchWriteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { v7 as newUuid } from 'uuid';
import { dueShardOf } from '../../../lib/extraction/deadlines.ts';
import type { Extraction } from '../../../lib/extraction/record.ts';
import type { Task } from '../../../lib/extraction/store.ts';
import type { MeasuredSystem } from './start-measured-system.ts';

type Item = { readonly table: string; readonly item: object; readonly key: object };

/** The tables of a deployment. */
type Tables = { readonly extractions: string; readonly tasks: string };

export const tablesOf = ({ outputs }: Pick<MeasuredSystem, 'outputs'>): Tables => ({
  extractions: outputs.ExtractionsTableName ?? '',
  tasks: outputs.TasksTableName ?? '',
});

export const taskOf = async (
  client: DynamoDBClient,
  TableName: string,
  { taskId = '' }: Extraction,
): Promise<Task> => {
  const { Item } = await client.send(
    new GetItemCommand({ TableName, Key: marshall({ taskId }), ConsistentRead: true }),
  );
  if (Item === undefined) throw new Error(`The task ${taskId} is not linked.`);
  return unmarshall(Item) as Task;
};

/** Items of running extractions for both tables: copies of a real one under new ids, one for each task. */
export const openItems = (
  { extraction, task, tables }: { extraction: Extraction; task: Task; tables: Tables },
  taskIds: readonly string[],
): readonly Item[] =>
  taskIds.flatMap((taskId) => {
    const extractionId = newUuid();
    const item = { ...extraction, extractionId, taskId, dueShard: dueShardOf(extractionId) };
    return [
      { table: tables.extractions, item, key: { extractionId } },
      { table: tables.tasks, item: { ...task, taskId, extractionId }, key: { taskId } },
    ];
  });

/** The limit of BatchWriteItem. */
const perBatch = 25;

const write = async (
  client: DynamoDBClient,
  items: readonly Item[],
  requestOf: (item: Item) => WriteRequest,
): Promise<void> => {
  for (const table of new Set(items.map((item) => item.table))) {
    const requests = items.filter((item) => item.table === table).map(requestOf);
    for (let from = 0; from < requests.length; from += perBatch) {
      const RequestItems = { [table]: requests.slice(from, from + perBatch) };
      const { UnprocessedItems = {} } = await client.send(new BatchWriteItemCommand({ RequestItems }));
      if (Object.keys(UnprocessedItems).length > 0) throw new Error('The emulator left items out.');
    }
  }
};

export const putItems = (client: DynamoDBClient, items: readonly Item[]): Promise<void> =>
  write(client, items, ({ item }) => ({
    PutRequest: { Item: marshall(item, { removeUndefinedValues: true }) },
  }));

export const deleteItems = (client: DynamoDBClient, items: readonly Item[]): Promise<void> =>
  write(client, items, ({ key }) => ({ DeleteRequest: { Key: marshall(key) } }));
