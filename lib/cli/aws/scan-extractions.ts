import { type DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { Extraction } from '../../extraction/record.ts';

/** Every row of a table of extractions, such as a restored one. Nothing of their shape is checked. */
export async function* scanExtractions(
  client: DynamoDBClient,
  table: string,
): AsyncGenerator<Extraction, void> {
  const pages = paginateScan({ client }, { TableName: table, ConsistentRead: true });
  for await (const { Items = [] } of pages) {
    for (const item of Items) yield unmarshall(item) as Extraction;
  }
}
