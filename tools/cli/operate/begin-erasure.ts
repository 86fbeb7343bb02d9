import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { marshall } from '@aws-sdk/util-dynamodb';
import { dynamoErasureStore, tombstonesOf } from '../../../lib/aws/dynamo-erasure-store.ts';
import { dynamoNameIndex } from '../../../lib/aws/dynamo-extraction-store.ts';
import { sendEraseTo } from '../../../lib/aws/send-messages.ts';
import { cachedRead } from '../../../lib/cached-read.ts';
import type { Erasure, SendErase, Tombstone } from '../../../lib/extraction/erase/erasure.ts';
import { beginErasure } from '../../../lib/extraction/erase/search.ts';
import type { NamedEntry } from '../../../lib/extraction/store.ts';
import type { Deployment } from '../aws/deployment.ts';
import { identityOf } from '../aws/identity.ts';
import { entriesWithName } from '../aws/read-extractions.ts';
import { CliError } from '../terminal/errors.ts';

/** DynamoDB's own time in seconds: the `Date` of its answer (RFC 9110, section 6.6.1). The clock of the operator may be wrong. */
const timeOfDynamo = async (dynamo: DynamoDBClient, TableName: string): Promise<Date> => {
  const command = new GetItemCommand({ TableName, Key: marshall({ erasureId: 'time', item: 'time' }) });
  let date: string | undefined;
  command.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      date = (result.response as { readonly headers?: Readonly<Record<string, string>> }).headers?.date;
      return result;
    },
    { step: 'deserialize' },
  );
  await dynamo.send(command);
  const at = new Date(date ?? '');
  if (Number.isNaN(at.getTime())) throw new CliError('The answer of DynamoDB has no date.');
  // The date has whole seconds, and what was requested within this one is there, too.
  return new Date(at.getTime() + 999);
};

/** Sends to the erase queue of a deployment. */
export const eraseSenderOf = ({ client, output }: Deployment): SendErase =>
  sendEraseTo(
    new SQSClient({ ...client, useQueueUrlAsEndpoint: false, md5: false }),
    output('EraseQueueUrl'),
  );

/** Erasures of a deployment, as an operator asks for them. */
export const erasuresOf = (deployment: Deployment) => {
  const { client, output } = deployment;
  const dynamo = new DynamoDBClient(client);
  const table = output('ErasuresTableName');
  const erasures = dynamoErasureStore(dynamo, table);
  const index = dynamoNameIndex(dynamo, output('ExtractionsTableName'));
  const send = eraseSenderOf(deployment);
  // Asked once for all that a filter of the console matches.
  const identity = cachedRead(
    60,
    () => new Date(),
    () => identityOf(deployment),
  );
  return {
    /** What carries a reference now. */
    find: (reference: string, requestedBy: string | undefined): Promise<readonly NamedEntry[]> =>
      entriesWithName(index, { by: 'reference', name: reference, requestedBy }),
    /** Records who runs this as the one who asked. */
    begin: async (erasure: Omit<Erasure, 'askedAt' | 'askedBy'>): Promise<void> => {
      const askedBy = (await identity()) ?? 'an operator';
      const askedAt = (await timeOfDynamo(dynamo, table)).toISOString();
      await beginErasure({ ...erasure, askedBy, askedAt }, { erasures, send });
    },
    get: erasures.get,
    tombstones: async (erasureId: string): Promise<readonly Tombstone[]> => {
      const all: Tombstone[] = [];
      for await (const tombstone of tombstonesOf(dynamo, table, erasureId)) all.push(tombstone);
      return all;
    },
  };
};
