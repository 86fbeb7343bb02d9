/** @module-tag slow */

import { DeleteItemCommand, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { InvokeCommand } from '@aws-sdk/client-lambda';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { beforeAll, expect, inject, test } from 'vitest';
import { dynamoNameIndex } from '#lib/aws/dynamo-extraction-store.ts';
import { eventually } from '../support/eventually.ts';
import { authorized } from './support/authorized-consents.ts';
import { aws } from './support/aws.ts';
import { deployApp } from './support/deploy-app.ts';
import { closed } from './support/records.ts';

const { api, outputs } = inject('cosecha');
let example: Record<string, string>;

/** The provider knows no such consent. */
const unknownConsent = '00000000-0000-4000-8000-00000000dead';

beforeAll(async () => {
  // `cdk.json` of the example has the address of a deployment on AWS.
  const context = [`apiUrl=${api}`, `apiId=${outputs.ApiId}`];
  example = await deployApp('e2e-refresh', { file: 'examples/refresh/app.ts', context });
});

/** Invokes the function as its schedule does. */
const refresh = async (time: string): Promise<unknown> => {
  const { FunctionError, Payload } = await aws.lambda.send(
    new InvokeCommand({ FunctionName: example.RefreshFunctionName, Payload: JSON.stringify({ time }) }),
  );
  expect(FunctionError).toBeUndefined();
  return JSON.parse(Payload?.transformToString() ?? 'null');
};

test('the example refreshes each user once a day, also if its schedule invokes it again', async () => {
  const TableName = example.ConsentsTableName;
  const users = await Promise.all(['ana', 'eva'].map(async (user) => ({ user, ...(await authorized()) })));
  for (const user of users) await aws.dynamo.send(new PutItemCommand({ TableName, Item: marshall(user) }));

  const batch = 'morning-2026-11-27';
  expect(await refresh('2026-11-27T09:00:00Z')).toEqual({ batch, accepted: 2, replayed: 0, leftOut: 0 });
  expect(await refresh('2026-11-27T09:00:00Z')).toEqual({ batch, accepted: 0, replayed: 2, leftOut: 0 });

  const index = dynamoNameIndex(aws.dynamo, outputs.ExtractionsTableName ?? '');
  const ids = await eventually(async () => {
    const { entries } = await index.find({ by: 'batch', name: batch, limit: 10 });
    expect(entries).toHaveLength(2);
    return entries.map(({ extractionId }) => extractionId);
  });
  const records = await Promise.all(ids.map((id) => closed(id)));
  expect(records.map(({ reference }) => reference).toSorted()).toEqual(['ana', 'eva']);
  for (const record of records) expect(record).toMatchObject({ status: 'COMPLETED', priority: 'background' });

  // The next morning, one of them has revoked the consent, and is asked for no more until there is another.
  const [, eva] = users;
  const morning = (day: string) => refresh(`2026-11-${day}T09:00:00Z`);
  await aws.dynamo.send(
    new PutItemCommand({ TableName, Item: marshall({ ...eva, consentId: unknownConsent }) }),
  );
  expect(await morning('28')).toMatchObject({ accepted: 2, leftOut: 0 });
  const { entries } = await eventually(async () => {
    const found = await index.find({ by: 'batch', name: 'morning-2026-11-28', limit: 10 });
    expect(found.entries).toHaveLength(2);
    return found;
  });
  const ended = await Promise.all(entries.map(({ extractionId }) => closed(extractionId)));
  expect(ended.map(({ advice }) => advice).toSorted()).toEqual(['none', 'renew-consent']);
  expect(await morning('29')).toMatchObject({ accepted: 1, leftOut: 0 });
  const Key = marshall({ user: eva?.user });
  const { Item = {} } = await aws.dynamo.send(new GetItemCommand({ TableName, Key }));
  expect(unmarshall(Item)).toMatchObject({ blockedBy: 'renew-consent' });

  // National ids are searched for in all that the suite leaves.
  for (const { user } of users) {
    await aws.dynamo.send(new DeleteItemCommand({ TableName, Key: marshall({ user }) }));
  }
});
