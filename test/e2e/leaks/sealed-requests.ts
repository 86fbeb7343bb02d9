import { hash } from 'node:crypto';
import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { LambdaClient, paginateListFunctions } from '@aws-sdk/client-lambda';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { credentialsContext, targetContext } from '#lib/aws/seal.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import type { Deployed } from '../deployment.ts';
import type { Secret } from './secret.ts';

/** The key's id, as text, and a SHA-256. */
export const headCharacters = 36 + 32;

/** JSON with Python's separators. */
const python = (context: Readonly<Record<string, string>>): string =>
  `{${Object.entries(context)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `"${name}": "${value}"`)
    .join(', ')}}`;

/**
 * How each ciphertext of the emulator's KMS begins: the key's id and the SHA-256 of the encryption context
 * (ministack/services/kms.py, `_encrypt`). So the ciphertext of a request is known by its record.
 */
export const headOf = (keyId: string, context: Readonly<Record<string, string>>): string =>
  `${keyId}${hash('sha256', python(context), 'buffer').toString('latin1')}`;

const sealKeyOf = async ({ client }: Deployed): Promise<string> => {
  for await (const { Functions = [] } of paginateListFunctions({ client: new LambdaClient(client) }, {})) {
    for (const { Environment } of Functions) {
      const arn = Environment?.Variables?.SEAL_KEY_ARN;
      if (arn !== undefined) return arn.slice(arn.lastIndexOf('/') + 1);
    }
  }
  throw new Error('No function has a SEAL_KEY_ARN.');
};

/** What was sealed for each record that there is. */
export const sealedRequests = async (deployed: Deployed): Promise<readonly Secret[]> => {
  const keyId = await sealKeyOf(deployed);
  const secrets: Secret[] = [];
  const scan = paginateScan(
    { client: new DynamoDBClient(deployed.client) },
    { TableName: deployed.outputs.ExtractionsTableName },
  );
  for await (const { Items = [] } of scan) {
    for (const item of Items) {
      const record = unmarshall(item) as Extraction;
      // Tests plant some that are no records.
      if (!('extractionId' in record) || !('requestId' in record)) continue;
      const contextOf = record.method === 'consent' ? targetContext : credentialsContext;
      secrets.push({
        kind: record.dueShard === undefined ? 'used sealed request' : 'sealed request',
        value: headOf(keyId, contextOf(record)),
      });
    }
  }
  return secrets;
};
