import { type DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { maxMismatches, type RepeatCounter } from '../extraction/store.ts';
import { conditional } from './items.ts';

const hourSeconds = 3_600;

/** When to retry if other requests are still being compared, which takes some milliseconds. */
const soonSeconds = 1;

const prefix = 'repeats/';

/** The key of the item that counts repeated requests of an extraction. */
export const repeatsKey = (extractionId: string) => marshall({ credentialsMac: `${prefix}${extractionId}` });

/** The extractionId in such a key. */
export const repeatsOf = (credentialsMac: string): string => credentialsMac.slice(prefix.length);

/** The counters of repeated requests, in the table `Refusals` beside the marks, whose keys are hex digits. Throws the SDK's errors. */
export const dynamoRepeatCounter = (client: DynamoDBClient, table: string): RepeatCounter => {
  /** Returns undefined, or the stored item if the condition failed. */
  const update = async (
    extractionId: string,
    expressions: { readonly UpdateExpression: string; readonly ConditionExpression: string },
    values: object,
  ): Promise<{ readonly expiresAt: number; readonly mismatches: number } | undefined> => {
    const { refusal } = await conditional(
      client.send(
        new UpdateItemCommand({
          TableName: table,
          Key: repeatsKey(extractionId),
          ...expressions,
          ExpressionAttributeValues: marshall(values),
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
    );
    return refusal && { expiresAt: 0, mismatches: 0, ...unmarshall(refusal.Item ?? {}) };
  };

  return {
    count: async (extractionId, now) => {
      const seconds = Math.floor(now.getTime() / 1_000);
      const end = seconds + hourSeconds;
      const refusing = await update(
        extractionId,
        {
          UpdateExpression: 'SET expiresAt = if_not_exists(expiresAt, :end) ADD repeats :one',
          ConditionExpression: 'attribute_not_exists(expiresAt) OR (expiresAt > :now AND repeats < :max)',
        },
        { ':end': end, ':one': 1, ':now': seconds, ':max': maxMismatches },
      );
      if (refusing === undefined) return 'counted';
      const { expiresAt, mismatches } = refusing;
      if (expiresAt > seconds)
        return { retryAfter: mismatches < maxMismatches ? soonSeconds : expiresAt - seconds };
      // The hour is over, but TTL has not removed the item yet. Only one of several processes begins the next hour.
      const lost = await update(
        extractionId,
        {
          UpdateExpression: 'SET expiresAt = :end, repeats = :one REMOVE mismatches',
          ConditionExpression: 'expiresAt = :old',
        },
        { ':end': end, ':one': 1, ':old': expiresAt },
      );
      return lost === undefined ? 'counted' : { retryAfter: soonSeconds };
    },

    compared: async (extractionId, isSame) => {
      await update(
        extractionId,
        {
          UpdateExpression: isSame ? 'ADD repeats :change' : 'ADD mismatches :change',
          ConditionExpression: 'repeats > :none',
        },
        { ':change': isSame ? -1 : 1, ':none': 0 },
      );
    },
  };
};
