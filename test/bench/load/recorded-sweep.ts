import { type DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { Extraction } from '../../../lib/extraction/record.ts';
import { sweepNow } from '../../../tools/cli/operate/invoke-functions.ts';
import type { Entry } from '../ledger/entry.ts';
import type { MeasuredSystem } from './start-measured-system.ts';

const timeoutMs = 60_000;

/**
 * Invokes the sweep, and waits until the queue has reconciled what it sent. Returns how many records that were, and the
 * ledger entries of both. Throws if it failed on one.
 */
export const recordedSweep = async (
  system: MeasuredSystem,
): Promise<{ readonly sent: number; readonly entries: readonly Entry[] }> => {
  const before = system.ledger.entries().length;
  const { emulator, outputs } = system;
  const { sent, failed } = await sweepNow(new LambdaClient(emulator.client), outputs.SweepFunctionName ?? '');
  if (failed !== 0) throw new Error(`The sweep failed on ${failed} records.`);
  const earlier = new Set(system.ledger.entries().slice(0, before));
  const isOfSweep = (one: Entry): boolean => !earlier.has(one) && one.trigger === 'sweep';
  // Its own entry, and one for each message.
  await system.ledger.atLeast(1 + sent, isOfSweep, AbortSignal.timeout(timeoutMs));
  return { sent, entries: system.ledger.entries().filter(isOfSweep) };
};

/**
 * Sets `dueAt` of these records. The ledger does not have these writes. A sweep reads each record right before it writes
 * it, from which the units of its writes follow.
 */
export const setDueAt = async (
  client: DynamoDBClient,
  TableName: string,
  extractions: readonly Extraction[],
  dueAt: Date,
): Promise<void> => {
  for (const { extractionId } of extractions) {
    await client.send(
      new UpdateItemCommand({
        TableName,
        Key: marshall({ extractionId }),
        UpdateExpression: 'SET dueAt = :then',
        ExpressionAttributeValues: marshall({ ':then': dueAt.toISOString() }),
      }),
    );
  }
};
