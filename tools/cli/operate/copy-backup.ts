import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type RestoreDeps, type RestoreResult, restore } from '../../../lib/extraction/operate/restore.ts';
import type { Extraction } from '../../../lib/extraction/record.ts';
import type { ClientConfig } from '../aws/deployment.ts';
import { insertMissing, repeatFailedCalls } from '../aws/insert-extractions.ts';
import { readExtractions, scanBackup } from '../aws/read-extractions.ts';

/** Segments of the backup that are read at the same time. Each writes 100 records at once, with four calls. */
const segments = 16;
const connections = 64;

/** A client that waits for a table that throttles, and for the network. */
export const manyConnections = (client: ClientConfig): DynamoDBClient => {
  const agent = { maxSockets: connections };
  const dynamo = new DynamoDBClient({ ...client, requestHandler: { httpAgent: agent, httpsAgent: agent } });
  // It copies every item for a log that nobody reads, which takes a fifth of the processor time of a record.
  dynamo.middlewareStack.remove('loggerMiddleware');
  return repeatFailedCalls(dynamo);
};

/** Copies the open records of a table that a backup was restored to, or the closed ones. */
export const copyBackup = (
  dynamo: DynamoDBClient,
  { from, to, isOpen }: { readonly from: string; readonly to: string; readonly isOpen: boolean },
  deps: Omit<RestoreDeps, 'createMissing' | 'find'>,
): Promise<RestoreResult> => {
  const find = (ids: readonly string[]): Promise<readonly Extraction[]> => readExtractions(dynamo, to, ids);
  return restore(
    Array.from({ length: segments }, (_, segment) =>
      scanBackup(dynamo, { table: from, isOpen, segment, of: segments }),
    ),
    {
      ...deps,
      find,
      createMissing: async (records) => {
        const existing = await insertMissing(dynamo, to, records);
        const live = await find(existing.map(({ extractionId }) => extractionId));
        const byId = new Map(live.map((record) => [record.extractionId, record]));
        // One that was erased in between was there.
        return existing.map((record) => byId.get(record.extractionId) ?? record);
      },
    },
  );
};
