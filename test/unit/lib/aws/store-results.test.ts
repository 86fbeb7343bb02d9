import type { S3Client } from '@aws-sdk/client-s3';
import { expect, test } from 'vitest';
import { storeResultsIn } from '../../../../lib/aws/store-results.ts';
import { fail, stubClient } from '../../../support/stub-client.ts';

// printf '{"a":1}' | sha256sum
const sha256 = '015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862';

test('the bytes are stored as they are, under the extraction and their own digest', async () => {
  const { client, sent } = stubClient<S3Client>(() => ({}));
  const bytes = Buffer.from('{"a":1}');
  expect(await storeResultsIn(client, 'bucket')('extraction-1', bytes)).toEqual({
    bucket: 'bucket',
    key: `extraction-1/${sha256}.json`,
    bytes: 7,
    sha256,
  });
  expect(sent).toEqual([
    {
      name: 'PutObjectCommand',
      input: {
        Bucket: 'bucket',
        Key: `extraction-1/${sha256}.json`,
        Body: bytes,
        ContentType: 'application/json',
      },
    },
  ]);
});

test('size is counted in bytes, not in characters', async () => {
  const { client } = stubClient<S3Client>(() => ({}));
  expect(await storeResultsIn(client, 'bucket')('e', Buffer.from('ñ€'))).toMatchObject({ bytes: 5 });
});

test('a failed put is thrown', async () => {
  const down = new Error('SlowDown');
  const store = storeResultsIn(stubClient<S3Client>(() => fail(down)).client, 'bucket');
  await expect(store('e', Buffer.from('{}'))).rejects.toBe(down);
});
