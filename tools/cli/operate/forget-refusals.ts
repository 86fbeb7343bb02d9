import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  paginateScan,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type { Extraction } from '../../../lib/extraction/record.ts';
import { saysRefused } from '../../../lib/extraction/refused-credentials.ts';
import type { RefusalMark } from '../../../lib/extraction/store.ts';

type Wanted = { readonly entity: string; readonly since: Date };

/** The entity of a mark. All of its extractions are of one, and some of them may be erased. */
const entityOf = async (
  { extractionIds }: RefusalMark,
  getRecord: (extractionId: string) => Promise<Extraction | undefined>,
): Promise<string | undefined> => {
  for (const id of extractionIds.toReversed()) {
    const record = await getRecord(id);
    if (record?.method === 'credentials') return record.entity;
  }
  return undefined;
};

/**
 * The marks that still keep refused credentials of this entity from being sent, and were noticed since then. A mark does not name
 * its entity; the records of its extractions do.
 */
export const findRefusals = async (
  { client, table }: { readonly client: DynamoDBClient; readonly table: string },
  { entity, since }: Wanted,
  {
    getRecord,
    now,
  }: { readonly getRecord: (extractionId: string) => Promise<Extraction | undefined>; readonly now: Date },
): Promise<readonly RefusalMark[]> => {
  const found: RefusalMark[] = [];
  const scan = {
    TableName: table,
    ConsistentRead: true,
    FilterExpression: 'noticedAt >= :since',
    ExpressionAttributeValues: marshall({ ':since': since.toISOString() }),
  };
  for await (const { Items = [] } of paginateScan({ client }, scan)) {
    const marks = Items.map((item) => unmarshall(item) as RefusalMark).filter((mark) =>
      saysRefused(mark, now),
    );
    const entities = await Promise.all(marks.map((mark) => entityOf(mark, getRecord)));
    found.push(...marks.filter((_, index) => entities[index] === entity));
  }
  return found;
};

/**
 * Writes that the credentials are not refused any more, unless a later notice has replaced the mark. Returns whether it did. The
 * item stays until its end, so that a refusal that was noticed before and is written late does not bring the mark back.
 */
export const forgetRefusal = async (
  { client, table }: { readonly client: DynamoDBClient; readonly table: string },
  { credentialsMac, noticedAt }: RefusalMark,
  now: Date,
): Promise<boolean> => {
  // The clock of who noticed it may have been ahead, and a refusal of that time must not bring the mark back.
  const forgottenAt = now.toISOString() < noticedAt ? noticedAt : now.toISOString();
  try {
    await client.send(
      new UpdateItemCommand({
        TableName: table,
        Key: marshall({ credentialsMac }),
        UpdateExpression: 'SET isRefused = :no, noticedAt = :now',
        ConditionExpression: 'noticedAt = :at',
        ExpressionAttributeValues: marshall({ ':no': false, ':now': forgottenAt, ':at': noticedAt }),
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
};
