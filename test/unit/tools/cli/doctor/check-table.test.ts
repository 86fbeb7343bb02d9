import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { checkTable } from '../../../../../tools/cli/doctor/check-table.ts';
import { stubClient } from '../../../../support/stub-client.ts';

const asDeployed = {
  TableStatus: 'ACTIVE',
  StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
  GlobalSecondaryIndexes: [{ IndexName: 'due', IndexStatus: 'ACTIVE' }],
};

const check = (table: object = {}, { ttl = 'ENABLED', pitr = 'ENABLED' } = {}, isPublic = true) =>
  checkTable(
    stubClient<DynamoDBClient>(({ constructor: { name } }) => {
      if (name === 'DescribeTableCommand') return { Table: { ...asDeployed, ...table } };
      if (name === 'DescribeTimeToLiveCommand') return { TimeToLiveDescription: { TimeToLiveStatus: ttl } };
      const PointInTimeRecoveryDescription = { PointInTimeRecoveryStatus: pitr };
      return { ContinuousBackupsDescription: { PointInTimeRecoveryDescription } };
    }).client,
    { name: 'T', label: 'T', isPublic },
  );

test('a table passes as the stack makes it', async () => {
  expect(await check()).toEqual({
    result: 'passed',
    message: 'table T is ACTIVE, with TTL, stream, index and point-in-time recovery',
  });
});

test('a table that is not public needs neither stream, index nor point-in-time recovery', async () => {
  const bare = { StreamSpecification: undefined, GlobalSecondaryIndexes: undefined };
  expect(await check(bare, { pitr: 'DISABLED' }, false)).toEqual({
    result: 'passed',
    message: 'table T is ACTIVE, with TTL',
  });
});

const noBothImages = 'its stream is off, or does not have both images';

test.each([
  ['it is UPDATING', { TableStatus: 'UPDATING' }, {}],
  [noBothImages, { StreamSpecification: undefined }, {}],
  [noBothImages, { StreamSpecification: { StreamViewType: 'KEYS_ONLY' } }, {}],
  ['the index due is missing, or not ACTIVE', { GlobalSecondaryIndexes: [] }, {}],
  ['TTL is off', {}, { ttl: 'DISABLED' }],
  ['point-in-time recovery is off', {}, { pitr: 'DISABLED' }],
])('a table fails where %s', async (difference, table, settings) => {
  expect(await check(table, settings)).toMatchObject({ result: 'failed', message: `table T: ${difference}` });
});
