import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SFNClient } from '@aws-sdk/client-sfn';
import { dynamoExtractionStore } from '../../aws/dynamo-extraction-store.ts';
import type { ConsoleSources } from '../console/sources.ts';
import type { Deployment } from '../deployment.ts';
import { openExtractionIds, readExtractions } from './read-extractions.ts';
import { recentExtractionsReader } from './read-recent-extractions.ts';

/** Reads a deployment for the console, with the operator's own credentials. */
export const consoleSources = ({ client, output }: Deployment, now: () => Date): ConsoleSources => {
  const dynamo = new DynamoDBClient(client);
  const table = output('ExtractionsTableName');
  return {
    open: async () => {
      const records = await readExtractions(dynamo, table, await openExtractionIds(dynamo, table));
      // The index is eventually consistent, and may still have records that have closed.
      return records.filter(({ dueShard }) => dueShard !== undefined);
    },
    recent: recentExtractionsReader({
      stepFunctions: new SFNClient(client),
      dynamo,
      stateMachineArn: output('StateMachineArn'),
      table,
      now,
    }),
    record: dynamoExtractionStore(dynamo, table).get,
  };
};
