import { type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compareCalls, comparedStores } from '../support/stores/compared-stores.ts';
import {
  createTable,
  type DynamoDBLocal,
  definitionOf,
  deleteTable,
  startDynamoDBLocal,
} from './dynamodb-local.ts';
import { describeWithJava } from './java.ts';

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
    async ({ table, key, onDynamo, inMemory, calls }) => {
      const definition = definitionOf(table);
      const sequences = fc.array(calls, { minLength: 20, maxLength: 40, size: 'max' });
      const property = fc.asyncProperty(sequences, async (sequence) => {
        tables += 1;
        const name = `${table}-${tables}`;
        await createTable(dynamo, name, definition);
        const memory = inMemory();
        await compareCalls(onDynamo(dynamo.client, name), memory, sequence);
        expect(memory.items).toStrictEqual(await itemsOf(dynamo.client, name, key));
        await deleteTable(dynamo, name);
      });
      await fc.assert(property, { numRuns: 60, seed: 1, endOnFailure: true });
    },
  );
});
