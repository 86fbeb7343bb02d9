import {
  type DynamoDBClient,
  GetItemCommand,
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type { Contribution, Entry, TotalsStore } from './count-event.ts';

/**
 * How long an entry is kept. After that a restored record would count again, so an entry outlives its record. A record
 * closes at most 30 days after its outcome (collectForSeconds) and is kept for 120 days (recordRetentionDays). Its changes
 * are a day in the stream and 14 days in the failure bucket.
 */
const ENTRY_KEPT_SECONDS = 180 * 86_400;

type Tables = { readonly totals: string; readonly entries: string };

/** The store on two DynamoDB tables. Throws the SDK's errors, except for a conflict of transactions. */
export const dynamoTotalsStore = (client: DynamoDBClient, tables: Tables, now: () => Date): TotalsStore => ({
  getEntry: async (extractionId) => {
    const { Item } = await client.send(
      new GetItemCommand({
        TableName: tables.entries,
        Key: marshall({ extractionId }),
        ConsistentRead: true,
      }),
    );
    return Item === undefined ? undefined : (unmarshall(Item) as Entry);
  },

  replaceEntry: async (extractionId, before, after) => {
    const expiresAt = Math.floor(now().getTime() / 1000) + ENTRY_KEPT_SECONDS;
    const entry = {
      Put: {
        TableName: tables.entries,
        Item: marshall({ extractionId, ...after, expiresAt }),
        ...(before === undefined
          ? { ConditionExpression: 'attribute_not_exists(extractionId)' }
          : {
              ConditionExpression: 'sequenceNumber = :before',
              ExpressionAttributeValues: marshall({ ':before': before.sequenceNumber }),
            }),
      },
    };
    const totals = totalChanges(before?.contribution, after.contribution).map((change) =>
      addition(tables.totals, change),
    );
    try {
      await client.send(new TransactWriteItemsCommand({ TransactItems: [entry, ...totals] }));
      return true;
    } catch (error) {
      if (error instanceof TransactionCanceledException) return false;
      throw error;
    }
  },
});

type TotalChange = {
  readonly day: string;
  readonly sourceAndOutcome: string;
  readonly extractions: number;
  readonly collected: number;
  readonly bytes: number;
};

const changeOf = (contribution: Contribution, sign: 1 | -1): TotalChange => ({
  day: contribution.day,
  sourceAndOutcome: `${contribution.source}#${contribution.outcome}`,
  extractions: sign,
  collected: sign * Number(contribution.collected),
  bytes: sign * contribution.bytes,
});

/** The changes of the totals. A transaction may have each item once, so two changes of one total become one. */
export const totalChanges = (
  before: Contribution | undefined,
  after: Contribution | undefined,
): readonly TotalChange[] => {
  const out = before === undefined ? undefined : changeOf(before, -1);
  const into = after === undefined ? undefined : changeOf(after, 1);
  if (out === undefined || into === undefined) return [out, into].filter((change) => change !== undefined);
  if (out.day !== into.day || out.sourceAndOutcome !== into.sourceAndOutcome) return [out, into];
  return [
    {
      ...into,
      extractions: 0,
      collected: out.collected + into.collected,
      bytes: out.bytes + into.bytes,
    },
  ];
};

const addition = (TableName: string, { day, sourceAndOutcome, ...sums }: TotalChange): TransactWriteItem => ({
  Update: {
    TableName,
    Key: marshall({ day, sourceAndOutcome }),
    UpdateExpression: 'ADD #extractions :extractions, #collected :collected, #bytes :bytes',
    ExpressionAttributeNames: { '#extractions': 'extractions', '#collected': 'collected', '#bytes': 'bytes' },
    ExpressionAttributeValues: marshall({
      ':extractions': sums.extractions,
      ':collected': sums.collected,
      ':bytes': sums.bytes,
    }),
  },
});
