import { ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { S3Client } from '@aws-sdk/client-s3';
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, onTestFinished, test } from 'vitest';
import { erase } from '../../../../../lib/extraction/operate/erase.ts';
import type { Extraction } from '../../../../../lib/extraction/record.ts';
import type { RefusalMark } from '../../../../../lib/extraction/store.ts';
import { eraseOnAws, ResultsNotDeleted } from '../../../../../tools/cli/operate/erase-on-aws.ts';
import { findRefusals, forgetRefusal } from '../../../../../tools/cli/operate/forget-refusals.ts';
import { fail, stubClient } from '../../../../support/aws/stub-client.ts';
import {
  at,
  closedExtraction,
  consentExtraction,
  extraction,
  id,
  iso,
  timings,
} from '../../../../support/data/extraction-fixtures.ts';
import { httpServer } from '../../../../support/programs/stub-servers.ts';

const names: Readonly<Record<string, string>> = {
  ExtractionsTableName: 'E',
  TasksTableName: 'T',
  RequestsTableName: 'R',
  RefusalsTableName: 'M',
  ResultsBucketName: 'B',
};
const output = (name: string): string => names[name] ?? '';

type Answer = Parameters<typeof stubClient>[0];
const refuse = () => fail(new ConditionalCheckFailedException({ message: 'no', $metadata: {} }));

const erasing = (parts: { readonly dynamo?: Answer; readonly s3?: Answer }) => {
  const dynamo = stubClient<DynamoDBClient>(parts.dynamo ?? (() => ({})));
  const s3 = stubClient<S3Client>(parts.s3 ?? (() => ({})));
  const removals = eraseOnAws({ dynamo: dynamo.client, s3: s3.client, output }, () => new Date(0));
  return { ...removals, dynamo, s3 };
};

/** A DynamoDB over HTTP with one record, whose clock is so many seconds after the record's request. */
const dynamoAt = async (seconds: number, record: object): Promise<DynamoDBClient> => {
  const { baseUrl } = await httpServer((response) => {
    response.setHeader('date', at(seconds).toUTCString());
    response.end(JSON.stringify({ Item: marshall(record) }));
  });
  const credentials = { accessKeyId: 'a', secretAccessKey: 's' };
  return new DynamoDBClient({ endpoint: baseUrl, region: 'eu-west-1', credentials, maxAttempts: 1 });
};

const settledAt = iso(1_000);
const expiresAt = Date.parse(settledAt) / 1000 + timings.recordRetention;
const closed = closedExtraction({ status: 'NOT_STARTED', settledAt, expiresAt });

test.each([
  ['a second before the function may have ended', 1_119, 'too-fresh'],
  ['after that', 1_120, 'remains'],
])('%s by the clock of DynamoDB, the clock of the operator does not matter', async (_when, seconds, kind) => {
  const dynamo = await dynamoAt(seconds, closed);
  onTestFinished(() => dynamo.destroy());
  const { client: s3 } = stubClient<S3Client>(() => ({}));
  const { recordRetention } = timings;
  for (const operatorClock of [0, 1_060, 100_000]) {
    const removals = eraseOnAws({ dynamo, s3, output }, () => at(operatorClock));
    expect(await erase(id, { ...removals, reconcileTimeout: 120, recordRetention })).toMatchObject({ kind });
  }
});

test('every version of every object and every delete marker is deleted, page by page', async () => {
  const [one, two] = ['v1', 'v2'].map((VersionId) => ({ Key: `${id}/a`, VersionId }));
  const last = { Key: `${id}/b`, VersionId: 'null' };
  const next = { IsTruncated: true, NextKeyMarker: `${id}/a`, NextVersionIdMarker: 'v2' };
  const pages = [{ Versions: [one], DeleteMarkers: [two], ...next }, { Versions: [last] }];
  const { removeResults, s3 } = erasing({
    s3: ({ constructor: { name } }) => (name === 'ListObjectVersionsCommand' ? pages.shift() : {}),
  });
  expect(await removeResults(id)).toBe(3);
  const [first, , second] = s3.sent;
  expect(first?.input).toEqual({ Bucket: 'B', Prefix: `${id}/` });
  expect(second?.input).toMatchObject({ KeyMarker: `${id}/a`, VersionIdMarker: 'v2' });
  const deleted = s3.sent.filter(({ name }) => name === 'DeleteObjectsCommand');
  const objects = deleted.map(({ input }) => (input.Delete as { Objects: unknown }).Objects);
  expect(objects).toEqual([[one, two], [last]]);
});

test('an object that S3 does not delete stops the erasure', async () => {
  const Versions = [{ Key: `${id}/a`, VersionId: 'null' }];
  const Errors = [{ Key: `${id}/a`, Code: 'AccessDenied' }];
  const { removeResults } = erasing({
    s3: ({ constructor: { name } }) => (name === 'ListObjectVersionsCommand' ? { Versions } : { Errors }),
  });
  await expect(removeResults(id)).rejects.toThrow(ResultsNotDeleted);
});

test('a record is deleted only while it is closed and its status unchanged', async () => {
  const { removeRecord, dynamo } = erasing({});
  expect(await removeRecord(id, 'COMPLETED')).toBe(true);
  expect(dynamo.sent[0]?.input).toMatchObject({
    TableName: 'E',
    Key: { extractionId: { S: id } },
    ConditionExpression:
      'attribute_not_exists(extractionId) OR (attribute_not_exists(#dueShard) AND #status = :status)',
    ExpressionAttributeValues: { ':status': { S: 'COMPLETED' } },
  });
  expect(await erasing({ dynamo: refuse }).removeRecord(id, 'COMPLETED')).toBe(false);
});

test("a task's item is deleted unless it belongs to another extraction", async () => {
  const Item = marshall({ taskId: 't', extractionId: 'another' });
  const { removeTask, hasTask, dynamo } = erasing({ dynamo: () => ({ Item }) });
  await removeTask('t', id);
  expect(dynamo.sent[0]?.input).toMatchObject({
    TableName: 'T',
    Key: { taskId: { S: 't' } },
    ConditionExpression: 'attribute_not_exists(extractionId) OR extractionId = :extraction',
    ExpressionAttributeValues: { ':extraction': { S: id } },
  });
  expect(await hasTask('t', id)).toBe(false);
  expect(await hasTask('t', 'another')).toBe(true);
  await expect(erasing({ dynamo: refuse }).removeTask('t', id)).resolves.toBeUndefined();
});

test('a mark loses the extraction, and goes with its last one', async () => {
  const kept = { credentialsMac: 'mac', noticedAt: iso(30), isRefused: true, expiresAt: 1 };
  const mark = { ...kept, extractionIds: [id, 'another'] };
  const { hasMark, removeMark, dynamo } = erasing({ dynamo: () => ({ Item: marshall(mark) }) });
  expect([await hasMark('mac', id), await hasMark('mac', 'third')]).toEqual([true, false]);
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

const mark = (extractionId: string, fields: Partial<RefusalMark> = {}): RefusalMark => ({
  credentialsMac: `mac of ${extractionId}`,
  extractionIds: [extractionId],
  noticedAt: iso(30),
  isRefused: true,
  expiresAt: at(10_000).getTime() / 1000,
  ...fields,
});

const records = new Map<string, Extraction>([
  ['mine', extraction()],
  ['second', extraction()],
  ['other', extraction({ entity: 'other-bank' })],
  ['consent', consentExtraction()],
]);
const deps = { getRecord: async (id: string) => records.get(id), now: at(100) };
const wanted = { entity: 'bank', since: at(20) };

test('the marks of one entity are found that still count, over all pages', async () => {
  const others = [mark('mine', { isRefused: false }), mark('mine', { expiresAt: 1 }), mark('consent')];
  const pages = [
    [mark('mine'), mark('other'), mark('gone')],
    [mark('second', { extractionIds: ['second', 'gone'] }), ...others],
  ];
  const { client: stub, sent } = stubClient<DynamoDBClient>(() => {
    const Items = pages.shift()?.map((item) => marshall(item));
    const LastEvaluatedKey = pages.length > 0 ? marshall({ credentialsMac: 'mac' }) : undefined;
    return { Items, LastEvaluatedKey };
  });
  // The SDK's paginator checks the class.
  const client = Object.setPrototypeOf(stub, DynamoDBClient.prototype) as DynamoDBClient;
  const found = [mark('mine'), mark('second', { extractionIds: ['second', 'gone'] })];
  expect(await findRefusals({ client, table: 'M' }, wanted, deps)).toEqual(found);
  expect(sent[0]?.input).toMatchObject({
    ConsistentRead: true,
    FilterExpression: 'noticedAt >= :since',
    ExpressionAttributeValues: marshall({ ':since': iso(20) }),
  });
});

test('a refusal counts no longer, unless a later notice has replaced its mark', async () => {
  const { client, sent } = stubClient<DynamoDBClient>(() => ({}));
  expect(await forgetRefusal({ client, table: 'M' }, mark('mine'), at(100))).toBe(true);
  expect(sent[0]?.input).toMatchObject({
    Key: marshall({ credentialsMac: 'mac of mine' }),
    ConditionExpression: 'noticedAt = :at',
    ExpressionAttributeValues: marshall({ ':no': false, ':now': iso(100), ':at': iso(30) }),
  });
  const behind = stubClient<DynamoDBClient>(() => ({}));
  await forgetRefusal({ client: behind.client, table: 'M' }, mark('mine'), at(20));
  const values = { ExpressionAttributeValues: { ':now': { S: iso(30) } } };
  expect(behind.sent[0]?.input).toMatchObject(values);
  const refusing = stubClient<DynamoDBClient>(refuse);
  expect(await forgetRefusal({ client: refusing.client, table: 'M' }, mark('mine'), at(100))).toBe(false);
});
