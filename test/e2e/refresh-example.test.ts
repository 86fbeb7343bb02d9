/** @module-tag slow */

import { DeleteItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { InvokeCommand } from '@aws-sdk/client-lambda';
import { marshall } from '@aws-sdk/util-dynamodb';
import { beforeAll, expect, inject, test } from 'vitest';
import { dynamoNameIndex } from '../../lib/aws/dynamo-name-index.ts';
import { eventually } from '../support/eventually.ts';
import { authorized } from './support/authorized-consents.ts';
import { aws } from './support/aws.ts';
import { deployApp } from './support/deploy-app.ts';
import { closed } from './support/records.ts';

const { api, outputs } = inject('cosecha');
let example: Record<string, string>;

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
  expect(await refresh('2026-11-27T09:00:00Z')).toEqual({ batch, accepted: 2, replayed: 0 });
  expect(await refresh('2026-11-27T09:00:00Z')).toEqual({ batch, accepted: 0, replayed: 2 });

  const index = dynamoNameIndex(aws.dynamo, outputs.ExtractionsTableName ?? '');
  const ids = await eventually(async () => {
    const { entries } = await index.find({ by: 'batch', name: batch, limit: 10 });
    expect(entries).toHaveLength(2);
    return entries.map(({ extractionId }) => extractionId);
  });
  const records = await Promise.all(ids.map((id) => closed(id)));
  expect(records.map(({ reference }) => reference).toSorted()).toEqual(['ana', 'eva']);
  for (const record of records) expect(record).toMatchObject({ status: 'COMPLETED', priority: 'background' });
  // National ids are searched for in all that the suite leaves.
  for (const { user } of users) {
    await aws.dynamo.send(new DeleteItemCommand({ TableName, Key: marshall({ user }) }));
  }
});
