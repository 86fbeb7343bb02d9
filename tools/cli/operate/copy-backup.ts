import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { dynamoExtractionStore } from '../../../lib/aws/dynamo-extraction-store.ts';
import { type RestoreDeps, type RestoreResult, restore } from '../../../lib/extraction/operate/restore.ts';
import type { ClientConfig } from '../aws/deployment.ts';
import { readExtractions, scanBackup } from '../aws/read-extractions.ts';

/** Segments of the backup that are read at the same time. Each writes 16 records at once, so that 256 connections are used. */
const segments = 16;
const connections = 256;

/** A client that waits for a table that throttles, instead of giving up after three tries. */
export const manyConnections = (client: ClientConfig): DynamoDBClient =>
  new DynamoDBClient({
    ...client,
    maxAttempts: 12,
    requestHandler: { httpAgent: { maxSockets: connections }, httpsAgent: { maxSockets: connections } },
  });

/** Copies the open records of a table that a backup was restored to, or the closed ones. */
export const copyBackup = (
  dynamo: DynamoDBClient,
  { from, to, isOpen }: { readonly from: string; readonly to: string; readonly isOpen: boolean },
  deps: Omit<RestoreDeps, 'create' | 'find'>,
): Promise<RestoreResult> =>
  restore(
    Array.from({ length: segments }, (_, segment) =>
      scanBackup(dynamo, { table: from, isOpen, segment, of: segments }),
    ),
    {
      ...deps,
      create: dynamoExtractionStore(dynamo, to).create,
      find: (ids) => readExtractions(dynamo, to, ids),
    },
  );
