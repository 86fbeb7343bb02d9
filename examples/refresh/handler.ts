import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { type BatchRequest, extractionsClient } from '@cosecha/cosecha/client';

const { API_URL: apiUrl = '', CONSENTS_TABLE: TableName = '' } = process.env;
const client = new DynamoDBClient();

/** One for each consent. The reference finds the user of an outcome again. */
async function* requests(): AsyncGenerator<BatchRequest, void> {
  for await (const { Items = [] } of paginateScan({ client }, { TableName })) {
    for (const item of Items) {
      const { user, consentId, target } = unmarshall(item) as Record<'user' | 'consentId' | 'target', string>;
      yield { method: 'consent', product: 'movement', consentId, target, reference: user };
    }
  }
}

/** Requests all under the name of the day. If it fails, it is invoked again, and starts nothing twice. */
export const handler = async ({ time }: { readonly time: string }) => {
  const batch = `morning-${time.slice(0, 10)}`;
  const { accepted, replayed, refused } = await extractionsClient({ apiUrl }).requestAll(requests(), {
    batch,
  });
  if (refused.length > 0) throw new Error(`${refused.length} requests of ${batch} were refused.`);
  return { batch, accepted, replayed };
};
