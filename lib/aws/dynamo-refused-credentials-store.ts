import { type DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { mergeMarks } from '../extraction/refused-credentials.ts';
import type { RefusalMark, RefusedCredentialsStore } from '../extraction/store.ts';
import { conditional, getItem } from './items.ts';

/** Other processes changed the mark before each of our writes. The invoker retries. */
export class MarkContended extends Error {
  override readonly name = 'MarkContended';
}

/** More than the processes that learn about one password at one time. */
const maxTries = 10;

/** The condition that the mark is still as found. */
export const unchangedMark = (found: RefusalMark | undefined) =>
  found === undefined
    ? { ConditionExpression: 'attribute_not_exists(credentialsMac)' }
    : {
        ConditionExpression: 'extractionIds = :ids AND noticedAt = :at AND isRefused = :refused',
        ExpressionAttributeValues: marshall({
          ':ids': found.extractionIds,
          ':at': found.noticedAt,
          ':refused': found.isRefused,
        }),
      };

/** The table `Refusals` on DynamoDB. Throws the SDK's errors, and MarkContended. */
export const dynamoRefusedCredentialsStore = (
  client: DynamoDBClient,
  table: string,
): RefusedCredentialsStore => ({
  get: (credentialsMac) => getItem<RefusalMark>(client, table, { credentialsMac }),

  put: async (shown) => {
    let found: RefusalMark | undefined;
    for (let tries = 0; tries < maxTries; tries += 1) {
      const mark = mergeMarks(found, shown);
      if (mark === undefined) return;
      const { refusal } = await conditional(
        client.send(
          new PutItemCommand({
            TableName: table,
            Item: marshall(mark),
            ...unchangedMark(found),
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        ),
      );
      if (refusal === undefined) return;
      found = refusal.Item && (unmarshall(refusal.Item) as RefusalMark);
    }
    throw new MarkContended('The mark of refused credentials could not be written.');
  },
});
