import { DynamoDBClient, paginateScan, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { type BatchRequest, extractionsClient } from '@cosecha/cosecha/client';

const { API_URL: apiUrl = '', CONSENTS_TABLE: TableName = '' } = process.env;
const client = new DynamoDBClient();

/** Who has to act before another request can succeed. Your service replaces the item, without `blockedBy`, once they have. */
const byPeople = ['ask-user', 'renew-consent', 'fix-request'];
/** A task may still run, or the operator has to act: these are asked for again a day later. */
const later = ['wait', 'ask-provider', 'operator'];

type Consent = {
  readonly user: string;
  readonly consentId: string;
  readonly target: string;
  readonly blockedBy?: string;
};

/** Keeps why a user is left out, unless there is another consent by now. */
const block = async (user: string, consentId: string, advice: string): Promise<void> => {
  const update = new UpdateItemCommand({
    TableName,
    Key: marshall({ user }),
    UpdateExpression: 'SET blockedBy = :advice',
    ConditionExpression: 'consentId = :consentId',
    ExpressionAttributeValues: marshall({ ':advice': advice, ':consentId': consentId }),
  });
  await client.send(update).catch((error: Error) => {
    if (error.name !== 'ConditionalCheckFailedException') throw error;
  });
};

/** Acts on the outcomes of a batch. Returns the users that are left out today. */
const settle = async (cosecha: ReturnType<typeof extractionsClient>, batch: string): Promise<Set<string>> => {
  const leftOut = new Set<string>();
  for await (const { reference: user, advice, ...extraction } of cosecha.findExtractions({ batch })) {
    if (user === undefined || extraction.method !== 'consent') continue;
    // Without an advice, results are still collected.
    if (advice === undefined || later.includes(advice)) leftOut.add(user);
    else if (byPeople.includes(advice)) await block(user, extraction.consentId, advice);
  }
  return leftOut;
};

/** One for each consent that can be used. The reference finds the user of an outcome again. */
async function* requests(leftOut: ReadonlySet<string>): AsyncGenerator<BatchRequest, void> {
  // Consistent, so that nobody is asked for who was blocked a moment ago.
  for await (const { Items = [] } of paginateScan({ client }, { TableName, ConsistentRead: true })) {
    for (const item of Items) {
      const { user, consentId, target, blockedBy } = unmarshall(item) as Consent;
      if (blockedBy !== undefined || leftOut.has(user)) continue;
      yield { method: 'consent', product: 'movement', consentId, target, reference: user };
    }
  }
}

const batchOf = (day: Date): string => `morning-${day.toISOString().slice(0, 10)}`;

/**
 * Acts on yesterday's outcomes, then requests all others under the name of the day. If it fails, it is invoked again, and starts nothing
 * twice. What it throws raises the alarm.
 */
export const handler = async ({ time }: { readonly time: string }) => {
  const cosecha = extractionsClient({ apiUrl });
  const today = new Date(time);
  const yesterday = new Date(today.getTime() - 86_400_000);
  const leftOut = await settle(cosecha, batchOf(yesterday));
  const batch = batchOf(today);
  const { accepted, replayed, refused } = await cosecha.requestAll(requests(leftOut), { batch });
  const [first] = refused;
  if (first !== undefined) {
    throw new Error(`${refused.length} requests of ${batch} were refused, the first: ${first.error.message}`);
  }
  return { batch, accepted, replayed, leftOut: leftOut.size };
};
