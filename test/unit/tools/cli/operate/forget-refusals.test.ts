import { ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, test } from 'vitest';
import type { Extraction } from '../../../../../lib/extraction/record.ts';
import type { RefusalMark } from '../../../../../lib/extraction/store.ts';
import { findRefusals, forgetRefusal } from '../../../../../tools/cli/operate/forget-refusals.ts';
import { fail, stubClient } from '../../../../support/aws/stub-client.ts';
import { at, consentExtraction, extraction, iso } from '../../../../support/data/extraction-fixtures.ts';

const mark = (extractionId: string, fields: Partial<RefusalMark> = {}): RefusalMark => ({
  credentialsMac: `mac of ${extractionId}`,
  extractionId,
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
  const pages = [
    { Items: [mark('mine'), mark('other'), mark('gone')], more: true },
    {
      Items: [
        mark('second'),
        mark('mine', { isRefused: false }),
        mark('mine', { expiresAt: 1 }),
        mark('consent'),
      ],
    },
  ];
  const { client: stub, sent } = stubClient<DynamoDBClient>(() => {
    const { Items = [], more } = pages.shift() ?? {};
    const LastEvaluatedKey = more ? marshall({ credentialsMac: 'mac' }) : undefined;
    return { Items: Items.map((item) => marshall(item)), LastEvaluatedKey };
  });
  // The SDK's paginator checks the class.
  const client = Object.setPrototypeOf(stub, DynamoDBClient.prototype) as DynamoDBClient;
  expect(await findRefusals({ client, table: 'M' }, wanted, deps)).toEqual([mark('mine'), mark('second')]);
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
  const refusing = stubClient<DynamoDBClient>(() =>
    fail(new ConditionalCheckFailedException({ message: 'refused', $metadata: {} })),
  );
  expect(await forgetRefusal({ client: refusing.client, table: 'M' }, mark('mine'), at(100))).toBe(false);
});
