import type { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, test } from 'vitest';
import { readStreamChanges } from '../../../../../tools/cli/aws/read-stream-changes.ts';
import { at, closedExtraction, extraction, id, iso } from '../../../../support/extraction-fixtures.ts';
import { stubClient } from '../../../../support/stub-client.ts';

const image = (record: object) => marshall(record, { removeUndefinedValues: true });
const record = (eventName: string, dynamodb: object, more: object = {}) => ({
  eventName,
  dynamodb: { Keys: marshall({ extractionId: id }), ...dynamodb },
  ...more,
});
const inserted = extraction();
const ended = closedExtraction({ status: 'COMPLETED' });

/** One shard with these pages, after which it is open and empty. */
const shardWith = (...pages: readonly (readonly object[])[]) => {
  let page = 0;
  return stubClient<DynamoDBStreamsClient>(({ constructor: { name } }) => {
    if (name === 'DescribeStreamCommand') return { StreamDescription: { Shards: [{ ShardId: 'shard' }] } };
    if (name === 'GetShardIteratorCommand') return { ShardIterator: 'first' };
    page += 1;
    return { Records: pages[page - 1] ?? [], NextShardIterator: `after ${page}` };
  });
};

test('the changes of one record are read from the start of the stream to its end', async () => {
  const { client } = shardWith(
    [
      record('INSERT', { ApproximateCreationDateTime: at(0), NewImage: image(inserted) }),
      record('INSERT', { Keys: marshall({ extractionId: 'other' }) }),
    ],
    [],
    [
      record(
        'REMOVE',
        { ApproximateCreationDateTime: at(9), OldImage: image(ended) },
        { userIdentity: { Type: 'Service', PrincipalId: 'dynamodb.amazonaws.com' } },
      ),
    ],
  );
  expect(await readStreamChanges(client, 'arn', id)).toEqual({
    items: [
      { at: iso(0), event: 'INSERT', byTtl: false, after: inserted },
      { at: iso(9), event: 'REMOVE', byTtl: true, before: ended },
    ],
    complete: true,
  });
});

test('a stream with more pages than are read is reported as incomplete', async () => {
  const other = record('INSERT', { Keys: marshall({ extractionId: 'other' }) });
  const { client } = shardWith(...Array.from({ length: 1_000 }, () => [other]));
  expect(await readStreamChanges(client, 'arn', id)).toEqual({ items: [], complete: false });
});
