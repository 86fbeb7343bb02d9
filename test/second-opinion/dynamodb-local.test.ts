import { type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Extraction } from '#lib/extraction/record.ts';
import { insertMissing } from '../../tools/cli/aws/insert-extractions.ts';
import { closedExtraction, consentExtraction, extractionIn } from '../support/data/extraction-fixtures.ts';
import { compareCalls, comparedStores } from '../support/stores/compared-stores.ts';
import { keyOf } from '../support/stores/interpreted-dynamo.ts';
import { memoryExtractionStore } from '../support/stores/memory-extraction-store.ts';
import { describeWithJava } from './describe-with-java.ts';
import {
  createTable,
  type DynamoDBLocal,
  definitionOf,
  deleteTable,
  startDynamoDBLocal,
} from './dynamodb-local.ts';

/** The items of a table by their key, as the memory has them. */
const itemsOf = async (client: DynamoDBClient, TableName: string, key: string) => {
  const { Items = [] } = await client.send(new ScanCommand({ TableName, ConsistentRead: true }));
  return new Map(Items.map((item) => unmarshall(item)).map((item) => [keyOf(key, item), item]));
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

  test('a restored record is written as a put would, and never over another one', async () => {
    await createTable(dynamo, 'restored', definitionOf('Extractions'));
    const memory = memoryExtractionStore();
    const insert = async (records: readonly Extraction[]) => {
      for (const record of records) await memory.create(record);
      return insertMissing(dynamo.client, 'restored', records);
    };
    const present = closedExtraction({ extractionId: 'present', lastProblem: 'the bank\'s "answer"' });
    const other = { extractionId: 'other', "it's": { list: [1.5, null, { empty: {} }], is: true } };
    const added = [
      extractionIn('STARTING'),
      other as unknown as Extraction,
      consentExtraction({ extractionId: 'consent' }),
    ];
    expect(await insert([present])).toEqual([]);
    const changed = { ...present, requestId: 'another-request' };
    expect(await insert([...added, changed])).toEqual([changed]);
    expect(memory.items).toStrictEqual(await itemsOf(dynamo.client, 'restored', 'extractionId'));
  });
});
