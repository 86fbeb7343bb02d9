import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { expect, test } from 'vitest';
import { removalsOnAws } from '#lib/aws/removals-on-aws.ts';
import { fail, stubClient } from '../../../support/aws/stub-client.ts';
import { closedExtraction, id, iso } from '../../../support/data/extraction-fixtures.ts';
import { interpretedDynamo } from '../../../support/stores/interpreted-dynamo.ts';

const removals = (dynamo: DynamoDBClient, s3: S3Client = new S3Client({})) => {
  const tables = { extractions: 'E', tasks: 'T', refusals: 'M' };
  return removalsOnAws({ dynamo, s3, tables, bucket: 'B', now: () => new Date(0) });
};

const removingFrom = (answer: Parameters<typeof stubClient>[0]) => {
  const { client, sent } = stubClient<S3Client>(answer);
  return { ...removals(interpretedDynamo('').client, client), sent };
};

test('every version of every object and every delete marker is deleted, page by page', async () => {
  const [one, two] = ['v1', 'v2'].map((VersionId) => ({ Key: `${id}/a`, VersionId }));
  const last = { Key: `${id}/b`, VersionId: 'null' };
  const next = { IsTruncated: true, NextKeyMarker: `${id}/a`, NextVersionIdMarker: 'v2' };
  const pages = [{ Versions: [one], DeleteMarkers: [two], ...next }, { Versions: [last] }];
  const { removeResults, sent: all } = removingFrom(({ constructor: { name } }) =>
    name === 'ListObjectVersionsCommand' ? pages.shift() : {},
  );
  expect(await removeResults(id)).toBe(3);
  const sent = (command: string) => all.filter(({ name }) => name === command).map(({ input }) => input);
  const [first, second] = sent('ListObjectVersionsCommand');
  expect(first).toEqual({ Bucket: 'B', Prefix: `${id}/` });
  expect(second).toMatchObject({ KeyMarker: `${id}/a`, VersionIdMarker: 'v2' });
  // One call each: AWS allows s3:DeleteObjectVersion for each object, and so does an emulator that takes a call's resource from its path.
  expect(sent('DeleteObjectCommand')).toEqual(
    [one, two, last].map((version) => ({ Bucket: 'B', ...version })),
  );
});

test('an object that S3 does not delete stops the erasure', async () => {
  const Versions = [{ Key: `${id}/a`, VersionId: 'null' }];
  const { removeResults } = removingFrom(({ constructor: { name } }) =>
    name === 'ListObjectVersionsCommand' ? { Versions } : fail(new Error('AccessDenied')),
  );
  await expect(removeResults(id)).rejects.toThrow('AccessDenied');
});

test('a record is deleted only while it is closed, of the same request and in the same status', async () => {
  const record = closedExtraction({ status: 'COMPLETED' });
  const { client, items } = interpretedDynamo('extractionId');
  for (const other of [{ dueShard: 1 }, { status: 'FAILED' }, { requestId: 'of another' }]) {
    items.set(id, { ...record, ...other });
    expect(await removals(client).removeRecord(record)).toBe(false);
  }
  items.set(id, { ...record });
  expect([await removals(client).removeRecord(record), items.size]).toEqual([true, 0]);
  expect(await removals(client).removeRecord(record)).toBe(true);
});

test('a mark loses the extraction, and goes with its last one', async () => {
  const { client, items } = interpretedDynamo('credentialsMac');
  const { removeMark } = removals(client);
  const mark = { credentialsMac: 'mac', noticedAt: iso(30), isRefused: true, expiresAt: 1 };
  items.set('mac', { ...mark, extractionIds: [id, 'another'] });
  for (const one of ['third', id]) await removeMark('mac', one);
  expect(items.get('mac')).toEqual({ ...mark, extractionIds: ['another'] });
  await removeMark('mac', 'another');
  expect(items.size).toBe(0);
});

test('the task of another extraction leads to no mark', async () => {
  const { client, items } = interpretedDynamo('taskId');
  items.set('task-1', { taskId: 'task-1', extractionId: id, credentialsMac: 'mac' });
  const { getMac } = removals(client);
  expect([await getMac('task-1', id), await getMac('task-1', 'another')]).toEqual(['mac', undefined]);
});
