import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DynamoDBStreamEvent } from 'aws-lambda';
import { consumeExtractionEvents } from 'cosecha';
import { countEvent } from './count-event.ts';
import { dynamoBooks } from './dynamo-books.ts';

const { TOTALS_TABLE = '', ENTRIES_TABLE = '' } = process.env;
const tables = { totals: TOTALS_TABLE, entries: ENTRIES_TABLE };
const books = dynamoBooks(new DynamoDBClient(), tables, () => new Date());

export const handler = (batch: DynamoDBStreamEvent) =>
  consumeExtractionEvents(batch, (event) => countEvent(books, event));
