import type { S3Client } from '@aws-sdk/client-s3';
import { expect, test } from 'vitest';
import { checkBucket } from '../../../../../tools/cli/doctor/check-bucket.ts';
import { fail, stubClient } from '../../../../support/stub-client.ts';

test.each([
  [404, 'results bucket B does not exist'],
  [403, 'no access to results bucket B'],
])('a results bucket that answers %d fails', async (httpStatusCode, message) => {
  const { client } = stubClient<S3Client>(() =>
    fail(Object.assign(new Error('Unknown'), { $metadata: { httpStatusCode } })),
  );
  expect(await checkBucket(client, 'B')).toMatchObject({ result: 'failed', message });
});
