import { S3Client } from '@aws-sdk/client-s3';
import { expect, test } from 'vitest';
import { presignResults } from '../../../../lib/aws/presign-results.ts';
import { at, iso } from '../../../support/extraction-fixtures.ts';

test('the link reads one object for 5 minutes and says until when', async () => {
  const client = new S3Client({
    region: 'eu-west-1',
    credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'example' },
  });
  const results = { bucket: 'bucket', key: 'extraction-1/abc.json', bytes: 1, sha256: 'abc' };
  const link = await presignResults(client, () => at(0))(results);
  const url = new URL(link.url);
  expect(url.pathname).toContain('extraction-1/abc.json');
  expect(url.host).toContain('bucket');
  expect(url.searchParams.get('X-Amz-Expires')).toBe('300');
  expect(url.searchParams.get('X-Amz-Signature')).toMatch(/^[0-9a-f]{64}$/);
  expect(link.expiresAt).toBe(iso(300));
});
