import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { consumeExtractionEvents } from '@cosecha/cosecha';
import type { DynamoDBStreamEvent } from 'aws-lambda';
import { countEvent } from './count-event.ts';
import { dynamoTotalsStore } from './dynamo-totals-store.ts';

const { TOTALS_TABLE = '', ENTRIES_TABLE = '' } = process.env;
const tables = { totals: TOTALS_TABLE, entries: ENTRIES_TABLE };
const store = dynamoTotalsStore(new DynamoDBClient(), tables, () => new Date());

export const handler = (batch: DynamoDBStreamEvent) =>
  consumeExtractionEvents(batch, (event) => countEvent(store, event));
