import { ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, test } from 'vitest';
import type { Extraction } from '#lib/extraction/record.ts';
import type { RefusalMark } from '#lib/extraction/store.ts';
import { fail, stubClient } from '#support/aws/stub-client.ts';
import { at, consentExtraction, extraction, iso } from '#support/data/extraction-fixtures.ts';
import { findRefusals, forgetRefusal } from '#tools/cli/operate/forget-refusals.ts';

const refuse = () => fail(new ConditionalCheckFailedException({ message: 'no', $metadata: {} }));

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
  const scan = () => {
    const Items = pages.shift()?.map((item) => marshall(item));
    const LastEvaluatedKey = pages.length > 0 ? marshall({ credentialsMac: 'mac' }) : undefined;
    return { Items, LastEvaluatedKey };
  };
  const { client, sent } = stubClient<DynamoDBClient>(scan, DynamoDBClient);
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
