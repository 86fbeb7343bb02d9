import { ConditionalCheckFailedException, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { S3Client } from '@aws-sdk/client-s3';
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, test } from 'vitest';
import { removalsOnAws } from '#lib/aws/removals-on-aws.ts';
import { fail, stubClient } from '../../../support/aws/stub-client.ts';
import { closedExtraction, id, iso } from '../../../support/data/extraction-fixtures.ts';

type Answer = Parameters<typeof stubClient>[0];
const refuse = () => fail(new ConditionalCheckFailedException({ message: 'no', $metadata: {} }));

const erasing = (parts: { readonly dynamo?: Answer; readonly s3?: Answer }) => {
  const dynamo = stubClient<DynamoDBClient>(parts.dynamo ?? (() => ({})));
  const s3 = stubClient<S3Client>(parts.s3 ?? (() => ({})));
  const tables = { extractions: 'E', tasks: 'T', refusals: 'M' };
  const clients = { dynamo: dynamo.client, s3: s3.client };
  return { ...removalsOnAws({ ...clients, tables, bucket: 'B', now: () => new Date(0) }), dynamo, s3 };
};

test('every version of every object and every delete marker is deleted, page by page', async () => {
  const [one, two] = ['v1', 'v2'].map((VersionId) => ({ Key: `${id}/a`, VersionId }));
  const last = { Key: `${id}/b`, VersionId: 'null' };
  const next = { IsTruncated: true, NextKeyMarker: `${id}/a`, NextVersionIdMarker: 'v2' };
  const pages = [{ Versions: [one], DeleteMarkers: [two], ...next }, { Versions: [last] }];
  const { removeResults, s3 } = erasing({
    s3: ({ constructor: { name } }) => (name === 'ListObjectVersionsCommand' ? pages.shift() : {}),
  });
  expect(await removeResults(id)).toBe(3);
  const sent = (command: string) => s3.sent.filter(({ name }) => name === command).map(({ input }) => input);
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
  const { removeResults } = erasing({
    s3: ({ constructor: { name } }) =>
      name === 'ListObjectVersionsCommand' ? { Versions } : fail(new Error('AccessDenied')),
  });
  await expect(removeResults(id)).rejects.toThrow('AccessDenied');
});

test('a record is deleted only while it is closed, of the same request and in the same status', async () => {
  const { removeRecord, dynamo } = erasing({});
  const record = closedExtraction({ status: 'COMPLETED' });
  expect(await removeRecord(record)).toBe(true);
  expect(dynamo.sent[0]?.input).toMatchObject({
    TableName: 'E',
    Key: { extractionId: { S: id } },
    ConditionExpression:
      'attribute_not_exists(extractionId) OR (attribute_not_exists(#dueShard) AND #status = :status AND requestId = :requestId)',
    ExpressionAttributeValues: { ':status': { S: 'COMPLETED' }, ':requestId': { S: record.requestId } },
  });
  expect(await erasing({ dynamo: refuse }).removeRecord(record)).toBe(false);
});

test("a task's item becomes one that knows nothing but that it was erased, unless it belongs to another extraction", async () => {
  const { eraseTask, dynamo } = erasing({});
  await eraseTask('t', id);
  expect(dynamo.sent[0]?.input).toMatchObject({
    TableName: 'T',
    Item: marshall({ taskId: 't', isErased: true, expiresAt: 30 * 86_400 }),
    ConditionExpression: 'attribute_not_exists(extractionId) OR extractionId = :extraction',
    ExpressionAttributeValues: { ':extraction': { S: id } },
  });
  await expect(erasing({ dynamo: refuse }).eraseTask('t', id)).resolves.toBeUndefined();
});

test('a mark loses the extraction, and goes with its last one', async () => {
  const kept = { credentialsMac: 'mac', noticedAt: iso(30), isRefused: true, expiresAt: 1 };
  const mark = { ...kept, extractionIds: [id, 'another'] };
  const { removeMark, dynamo } = erasing({ dynamo: () => ({ Item: marshall(mark) }) });
  await removeMark('mac', id);
  const found = marshall({ ':ids': mark.extractionIds, ':at': iso(30), ':refused': true });
  expect(dynamo.sent.at(-1)?.input).toMatchObject({
    TableName: 'M',
    Key: marshall({ credentialsMac: 'mac' }),
    UpdateExpression: 'SET extractionIds = :left',
    ExpressionAttributeValues: { ...found, ...marshall({ ':left': ['another'] }) },
  });
  const only = { ...kept, extractionIds: [id] };
  const last = erasing({ dynamo: () => ({ Item: marshall(only) }) });
  await last.removeMark('mac', id);
  expect(last.dynamo.sent.map(({ name }) => name)).toEqual(['GetItemCommand', 'DeleteItemCommand']);
  await last.removeMark('mac', 'third');
  expect(last.dynamo.sent).toHaveLength(3);
});

test('the task of another extraction leads to no mark', async () => {
  const task = { taskId: 'task-1', extractionId: id, credentialsMac: 'mac' };
  const { getMac } = erasing({ dynamo: () => ({ Item: marshall(task) }) });
  expect([await getMac('task-1', id), await getMac('task-1', 'another')]).toEqual(['mac', undefined]);
});
