import { type DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { Extraction } from '../../../lib/extraction/record.ts';
import type { Swept } from '../../../lib/extraction/sweep.ts';
import { type Invocation, invocationsSince } from './invocation.ts';
import type { MeasuredSystem } from './measured-system.ts';

/** Does what the schedule does, and returns the one invocation of it. Throws where it did not claim `due` records. */
export const sweepNow = async (system: MeasuredSystem, due: number): Promise<Invocation> => {
  const beganAt = Date.now();
  const { Payload } = await new LambdaClient(system.emulator.client).send(
    new InvokeCommand({
      FunctionName: system.outputs.ReconcileFunctionName,
      Payload: JSON.stringify({ trigger: 'sweep' }),
    }),
  );
  const swept = JSON.parse(Buffer.from(Payload ?? []).toString()) as Swept;
  if (swept.claimed !== due || swept.failed !== 0)
    throw new Error(`Of ${due} due, the sweep claimed ${swept.claimed} and failed on ${swept.failed}.`);
  const [invocation] = invocationsSince(system.invocations, beganAt).filter(
    ({ trigger }) => trigger === 'sweep',
  );
  if (invocation === undefined) throw new Error('The sweep was not recorded.');
  return invocation;
};

/** Moves when the sweep looks at these: as if time had passed, or were still to pass. */
export const lookAt = async (
  client: DynamoDBClient,
  TableName: string,
  extractions: readonly Extraction[],
  openUntil: Date,
): Promise<void> => {
  for (const { extractionId } of extractions) {
    await client.send(
      new UpdateItemCommand({
        TableName,
        Key: marshall({ extractionId }),
        UpdateExpression: 'SET openUntil = :then',
        ExpressionAttributeValues: marshall({ ':then': openUntil.toISOString() }),
      }),
    );
  }
};
