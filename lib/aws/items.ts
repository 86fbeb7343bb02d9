import { setTimeout as delay } from 'node:timers/promises';
import {
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';

/** Reads an item, strongly consistent. Undefined if there is none. Throws the SDK's errors. */
export const getItem = async <Item>(
  client: DynamoDBClient,
  table: string,
  key: Readonly<Record<string, string>>,
): Promise<Item | undefined> => {
  const { Item } = await client.send(
    new GetItemCommand({ TableName: table, Key: marshall(key), ConsistentRead: true }),
  );
  return Item === undefined ? undefined : (unmarshall(Item) as Item);
};

/**
 * Awaits a conditional write. Returns its output, or the refusal if its condition failed, which has the stored item if the write asked for
 * it. Throws all other errors.
 */
export const conditional = async <Output>(
  write: Promise<Output>,
): Promise<
  | { readonly output: Output; readonly refusal?: undefined }
  | { readonly output?: undefined; readonly refusal: ConditionalCheckFailedException }
> => {
  try {
    return { output: await write };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return { refusal: error };
  }
};

/** The limit of keys in one BatchGetItem. */
const keysTogether = 100;

/**
 * The pause before the omitted keys are read again: 100 ms, doubled up to 3.2 s, because a throttled table would omit them again at once.
 */
export const pauseMs = (tries: number): number => 100 * 2 ** Math.min(tries, 5);

/**
 * Reads the existing items with these keys, in any order. With `mayBeOld`, an item may be a second old, which costs half the read units.
 * Otherwise the read is strongly consistent. `attributes` limits which attributes are read.
 */
export async function* readItems(
  client: DynamoDBClient,
  {
    table,
    attributes,
    mayBeOld = false,
  }: { readonly table: string; readonly attributes?: readonly string[]; readonly mayBeOld?: boolean },
  all: readonly Readonly<Record<string, string>>[],
  pause: (milliseconds: number) => Promise<unknown> = delay,
): AsyncGenerator<unknown, void> {
  const options = {
    ConsistentRead: !mayBeOld,
    ...(attributes === undefined ? {} : projectionOf(attributes)),
  };
  for (let from = 0; from < all.length; from += keysTogether) {
    let keys = all.slice(from, from + keysTogether).map((key) => marshall(key));
    // If a call is too large or throttled, DynamoDB omits some keys. They are read again.
    for (let tries = 0; keys.length > 0; tries += 1) {
      if (tries > 0) await pause(pauseMs(tries - 1));
      const { Responses, UnprocessedKeys } = await client.send(
        new BatchGetItemCommand({ RequestItems: { [table]: { Keys: keys, ...options } } }),
      );
      yield* (Responses?.[table] ?? []).map((item) => unmarshall(item));
      keys = UnprocessedKeys?.[table]?.Keys ?? [];
    }
  }
}

/** Names are aliased, because some are reserved words. */
const projectionOf = (attributes: readonly string[]) => ({
  ProjectionExpression: attributes.map((name) => `#${name}`).join(', '),
  ExpressionAttributeNames: Object.fromEntries(attributes.map((name) => [`#${name}`, name])),
});
