import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { expect, test } from 'vitest';
import { dynamoTotalsStore } from '../../../../examples/consumer/dynamo-totals-store.ts';
import { readConfig } from '../../../../infra/config.ts';
import { at } from '../../../support/extraction-fixtures.ts';
import { stubClient } from '../../../support/stub-client.ts';

type Transaction = { readonly Put?: { readonly Item: Parameters<typeof unmarshall>[0] } };

const DAY = 86_400;

// Otherwise a restored record would be counted a second time.
test('an entry outlives its record, and the retries of its changes', async () => {
  const { client, sent } = stubClient<DynamoDBClient>(() => ({}));
  const store = dynamoTotalsStore(client, { totals: 'Totals', entries: 'Entries' }, () => at(0));
  await store.replaceEntry('extraction-1', undefined, { sequenceNumber: '1' });
  const [{ Put } = {}] = (sent[0]?.input.TransactItems ?? []) as readonly Transaction[];
  const keptDays = (unmarshall(Put?.Item ?? {}).expiresAt - at(0).getTime() / 1000) / DAY;
  const { recordRetentionDays } = readConfig({ stage: 'prod', providerBaseUrl: 'https://provider.example' });
  // The record closes at most 30 days after its outcome. A day in the stream, and 14 in the failure bucket.
  expect(keptDays).toBeGreaterThanOrEqual(30 + recordRetentionDays + 1 + 14);
});
