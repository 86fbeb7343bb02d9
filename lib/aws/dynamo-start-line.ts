import {
  DeleteItemCommand,
  type DynamoDBClient,
  PutItemCommand,
  paginateQuery,
  QueryCommand,
  type QueryCommandInput,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { type CallCounts, noCalls } from '../rate-limit/call-counts.ts';
import {
  countsKeptSeconds,
  countsKey,
  type InLine,
  type Place,
  parseSlot,
  type StartLineStore,
  type StoredEntry,
} from '../rate-limit/start-line.ts';
import { conditional, getItem, readItems } from './items.ts';

/** The query of all entries in the index `line`. The state InLine writes the partition key (infra/extraction-machine-definition.ts). */
export const inLineIndex = (table: string) =>
  ({
    TableName: table,
    IndexName: 'line',
    KeyConditionExpression: 'line = :line',
    ExpressionAttributeValues: marshall({ ':line': 'line' }),
  }) satisfies QueryCommandInput;

const asInLine = (item: Parameters<typeof unmarshall>[0]): InLine => {
  const { extractionId, requestId, slot, callbackToken } = unmarshall(item);
  return { extractionId, requestId, slot, callbackToken };
};

/** The table `StartLine` on DynamoDB. Throws the SDK's errors. */
export const dynamoStartLine = (client: DynamoDBClient, table: string): StartLineStore => {
  const keyed = (extractionId: string) => ({ TableName: table, Key: marshall({ extractionId }) });

  return {
    write: async (entry) => {
      const isNew = 'attribute_not_exists(attempt)';
      const isOfAnEarlierAttempt = 'attempt < :attempt';
      const isOfAnotherRequest = 'requestId <> :requestId';
      await conditional(
        client.send(
          new PutItemCommand({
            TableName: table,
            Item: marshall(entry, { removeUndefinedValues: true }),
            ConditionExpression: [isNew, isOfAnEarlierAttempt, isOfAnotherRequest].join(' OR '),
            ExpressionAttributeValues: marshall({
              ':attempt': entry.attempt,
              ':requestId': entry.requestId,
            }),
          }),
        ),
      );
    },

    find: (extractionId) => getItem<StoredEntry>(client, table, { extractionId }),

    remove: async (extractionId, requestId) => {
      await conditional(
        client.send(
          new DeleteItemCommand({
            ...keyed(extractionId),
            ConditionExpression: 'requestId = :requestId',
            ExpressionAttributeValues: marshall({ ':requestId': requestId }),
          }),
        ),
      );
    },

    withdraw: async ({ extractionId, requestId, callbackToken }) => {
      const { refusal } = await conditional(
        client.send(
          new DeleteItemCommand({
            ...keyed(extractionId),
            ConditionExpression:
              callbackToken === undefined
                ? 'requestId = :requestId AND attribute_not_exists(callbackToken)'
                : 'requestId = :requestId AND callbackToken = :found',
            ExpressionAttributeValues: marshall(
              { ':requestId': requestId, ':found': callbackToken },
              { removeUndefinedValues: true },
            ),
          }),
        ),
      );
      return refusal === undefined;
    },

    next: async (after, limit) => {
      const all = inLineIndex(table);
      // DynamoDB compares no key with an empty text.
      const from =
        after === ''
          ? all
          : {
              ...all,
              KeyConditionExpression: 'line = :line AND slot > :after',
              ExpressionAttributeValues: marshall({ ':line': 'line', ':after': after }),
            };
      const found: InLine[] = [];
      let ExclusiveStartKey: QueryCommandInput['ExclusiveStartKey'];
      // A page ends at 1 MB, even before the limit. So an incomplete page is not the end of the line.
      do {
        const Limit = limit - found.length;
        const page = await client.send(new QueryCommand({ ...from, Limit, ExclusiveStartKey }));
        found.push(...(page.Items ?? []).map(asInLine));
        ExclusiveStartKey = page.LastEvaluatedKey;
      } while (ExclusiveStartKey !== undefined && found.length < limit);
      return found;
    },

    leave: async ({ extractionId, callbackToken }, releasedAt) => {
      await conditional(
        client.send(
          new UpdateItemCommand({
            ...keyed(extractionId),
            UpdateExpression: 'SET releasedAt = :releasedAt REMOVE line, callbackToken',
            ConditionExpression: 'callbackToken = :released',
            ExpressionAttributeValues: marshall({ ':released': callbackToken, ':releasedAt': releasedAt }),
          }),
        ),
      );
    },

    count: async (second, { kind, key, times, retryAt }) => {
      await client.send(
        new UpdateItemCommand({
          ...keyed(countsKey(second)),
          // The last `retryAt` of the second replaces the others. They differ by less than a second.
          UpdateExpression: `SET expiresAt = :expiry${retryAt === undefined ? '' : ', #retryAt = :retryAt'} ADD #calls :times`,
          ExpressionAttributeNames: {
            '#calls': `${kind}/${key}`,
            ...(retryAt === undefined ? {} : { '#retryAt': `retryAt/${key}` }),
          },
          ExpressionAttributeValues: marshall(
            { ':expiry': second + countsKeptSeconds, ':times': times, ':retryAt': retryAt },
            { removeUndefinedValues: true },
          ),
        }),
      );
    },

    counts: async (from, to) => {
      const keys = Array.from({ length: to - from + 1 }, (_, index) => ({
        extractionId: countsKey(from + index),
      }));
      const seconds = new Map<number, ReadonlyMap<string, CallCounts>>();
      for await (const item of readItems(client, { table }, keys)) {
        const { extractionId, ...counted } = item as Record<string, number> & {
          readonly extractionId: string;
        };
        const calls = new Map<string, CallCounts>();
        for (const [name, value] of Object.entries(counted)) {
          const [kind = '', key] = name.split('/');
          if (key !== undefined) calls.set(key, { ...(calls.get(key) ?? noCalls), [kind]: value });
        }
        seconds.set(Number(extractionId.slice(countsKey('').length)), calls);
      }
      return seconds;
    },
  };
};

/** Reads the places in line, from at most `maxPages` pages of the index. A page has 1 MB, some 900 places. */
export const readPlaces = async (
  client: DynamoDBClient,
  table: string,
  maxPages = Number.POSITIVE_INFINITY,
): Promise<{ readonly places: readonly Place[]; readonly pages: number; readonly isComplete: boolean }> => {
  const places: Place[] = [];
  let pages = 0;
  const read = paginateQuery({ client }, { ...inLineIndex(table), ProjectionExpression: 'slot' });
  for await (const { Items = [], LastEvaluatedKey } of read) {
    places.push(...Items.flatMap(({ slot }) => parseSlot(slot?.S ?? '') ?? []));
    pages += 1;
    if (pages === maxPages) return { places, pages, isComplete: LastEvaluatedKey === undefined };
  }
  return { places, pages, isComplete: true };
};

/** A longer line is not counted, because the reads would slow down the dispatcher's own reads of the index. */
export const maxCounted = 10_000;

/** The length of the line, `maxCounted` at most. */
export const countInLine = async (client: DynamoDBClient, table: string): Promise<number> => {
  let count = 0;
  const read = paginateQuery({ client }, { ...inLineIndex(table), Select: 'COUNT' });
  for await (const { Count = 0 } of read) {
    count += Count;
    if (count >= maxCounted) return maxCounted;
  }
  return count;
};
