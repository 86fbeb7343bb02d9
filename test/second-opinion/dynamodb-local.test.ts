import { type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { InvalidChange } from '../support/stores/memory-extraction-store.ts';
import { comparedStores } from './compared-stores.ts';
import {
  createTable,
  type DynamoDBLocal,
  definitionOf,
  deleteTable,
  startDynamoDBLocal,
} from './dynamodb-local.ts';
import { describeWithJava } from './java.ts';

/** What a call returned. Both kinds of store refuse an invalid change, each by its own error. */
const outcomeOf = async (answer: Promise<unknown>): Promise<unknown> => {
  try {
    return { returned: await answer };
  } catch (error) {
    const { name } = error as Error;
    if (error instanceof InvalidChange || name === 'ValidationException') return 'refused';
    if (name === 'ConditionalCheckFailedException') return name;
    throw error;
  }
};

/** The items of a table by their key, as the memory has them. */
const itemsOf = async (client: DynamoDBClient, TableName: string, key: string) => {
  const { Items = [] } = await client.send(new ScanCommand({ TableName, ConsistentRead: true }));
  return new Map(Items.map((item) => unmarshall(item)).map((item) => [String(item[key]), item]));
};

describeWithJava('DynamoDB Local', () => {
  let dynamo: DynamoDBLocal;
  beforeAll(async () => {
    dynamo = await startDynamoDBLocal();
  });
  afterAll(() => dynamo?.stop());

  let tables = 0;

  test.each(comparedStores)(
    '$table: each call has the same answer as in memory, and leaves the same items',
    async ({ table, onDynamo, inMemory, calls }) => {
      const definition = definitionOf(table);
      const key = String(definition.KeySchema?.[0]?.AttributeName);
      const sequences = fc.array(calls, { minLength: 20, maxLength: 40, size: 'max' });
      const property = fc.asyncProperty(sequences, async (sequence) => {
        tables += 1;
        const name = `${table}-${tables}`;
        await createTable(dynamo, name, definition);
        const real = onDynamo(dynamo.client, name);
        const memory = inMemory();
        for (const [index, { text, run }] of sequence.entries()) {
          const expected = await outcomeOf(run(real));
          expect(await outcomeOf(run(memory)), `${index}: ${text}`).toStrictEqual(expected);
        }
        expect(memory.items).toStrictEqual(await itemsOf(dynamo.client, name, key));
        await deleteTable(dynamo, name);
      });
      await fc.assert(property, { numRuns: 60, seed: 1, endOnFailure: true });
    },
  );
});
