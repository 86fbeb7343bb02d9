import { type DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { marshall } from '@aws-sdk/util-dynamodb';
import { sweepNow } from '../../../lib/cli/aws/reconcile-function.ts';
import type { Extraction } from '../../../lib/extraction/record.ts';
import type { Entry } from '../ledger/entry.ts';
import type { MeasuredSystem } from './measured-system.ts';

/** Invokes the sweep, and returns its ledger entry. Throws if it did not claim `due` records. */
export const recordedSweep = async (system: MeasuredSystem, due: number): Promise<Entry> => {
  const before = system.ledger.entries().length;
  const { emulator, outputs } = system;
  const swept = await sweepNow(new LambdaClient(emulator.client), outputs.SweepFunctionName ?? '');
  if (swept.claimed !== due || swept.failed !== 0)
    throw new Error(`Of ${due} due, the sweep claimed ${swept.claimed} and failed on ${swept.failed}.`);
  const written = system.ledger.entries().slice(before);
  const entry = written.find((one) => one.function === 'sweep-extractions');
  if (entry === undefined) throw new Error('The sweep is not in the ledger.');
  return entry;
};

/**
 * Sets `dueAt` of these records. The ledger does not have these writes. A sweep reads each record right before it writes
 * it, from which the units of its writes follow.
 */
export const lookAt = async (
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
