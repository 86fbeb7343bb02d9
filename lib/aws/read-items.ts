import { setTimeout as delay } from 'node:timers/promises';
import { BatchGetItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';

/** BatchGetItem accepts this many keys. */
const keysTogether = 100;

/** 100 ms, doubled up to 3.2 s: a throttled table would leave the same keys out again at once. */
export const pauseMs = (tries: number): number => 100 * 2 ** Math.min(tries, 5);

/**
 * The existing items of these keys, in any order. Strongly consistent, unless they may be a second old, which takes half the read units.
 * `attributes`: which of them; default: all.
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
    // DynamoDB omits keys of a call that is too large, or throttled. They are read again.
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

/** With aliases, as some names are reserved words. */
const projectionOf = (attributes: readonly string[]) => ({
  ProjectionExpression: attributes.map((name) => `#${name}`).join(', '),
  ExpressionAttributeNames: Object.fromEntries(attributes.map((name) => [`#${name}`, name])),
});
