import {
  type DynamoDBClient,
  GetItemCommand,
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type { Books, Entry, Standing } from './count-event.ts';

/**
 * How long an entry is kept. Afterwards a change would count again, so it outlives the record, which may be put back
 * from a backup for as long as it is kept: 120 days (recordRetentionDays) after it closed, at most 30 days after its
 * outcome (collectForSeconds), and then wait a day in the stream and 14 in the bucket of failures.
 */
const ENTRY_KEPT_SECONDS = 180 * 86_400;

type Tables = { readonly totals: string; readonly entries: string };

/** The books on two DynamoDB tables. Throws the SDK's errors, but for a transaction that met another. */
export const dynamoBooks = (client: DynamoDBClient, tables: Tables, now: () => Date): Books => ({
  entryOf: async (extractionId) => {
    const { Item } = await client.send(
      new GetItemCommand({
        TableName: tables.entries,
        Key: marshall({ extractionId }),
        ConsistentRead: true,
      }),
    );
    return Item === undefined ? undefined : (unmarshall(Item) as Entry);
  },

  enter: async (extractionId, before, after) => {
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
    const totals = movesBetween(before?.standing, after.standing).map((move) =>
      addition(tables.totals, move),
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

type Move = {
  readonly day: string;
  readonly sourceAndOutcome: string;
  readonly extractions: number;
  readonly collected: number;
  readonly bytes: number;
};

const moveOf = (standing: Standing, sign: 1 | -1): Move => ({
  day: standing.day,
  sourceAndOutcome: `${standing.source}#${standing.outcome}`,
  extractions: sign,
  collected: sign * Number(standing.collected),
  bytes: sign * standing.bytes,
});

/** What to add to which totals. A transaction takes each item once, so two moves of one total become one. */
export const movesBetween = (before: Standing | undefined, after: Standing | undefined): readonly Move[] => {
  const out = before === undefined ? undefined : moveOf(before, -1);
  const into = after === undefined ? undefined : moveOf(after, 1);
  if (out === undefined || into === undefined) return [out, into].filter((move) => move !== undefined);
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

const addition = (TableName: string, { day, sourceAndOutcome, ...sums }: Move): TransactWriteItem => ({
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
