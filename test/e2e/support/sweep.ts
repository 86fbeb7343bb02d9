import { setTimeout as delay } from 'node:timers/promises';
import { ConditionalCheckFailedException, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { InvokeCommand } from '@aws-sdk/client-lambda';
import { marshall } from '@aws-sdk/util-dynamodb';
import { inject } from 'vitest';
import type { Extraction } from '../../../lib/extraction/record.ts';
import { aws } from './aws.ts';
import { streamOf } from './records.ts';

const { SweepFunctionName, ExtractionsTableName } = inject('cosecha').outputs;

/** One that fails is followed by the next, as the schedule's is. */
const sweep = async (): Promise<void> => {
  await aws.lambda.send(
    new InvokeCommand({
      FunctionName: SweepFunctionName,
      Payload: JSON.stringify({ trigger: 'sweep' }),
    }),
  );
};

let last = Promise.resolve();
let next: Promise<void> | undefined;

/** What the schedule does every few minutes, now. One at a time: all who ask during one share the one after it. */
export const sweepNow = (): Promise<void> => {
  next ??= last.then(() => {
    next = undefined;
    last = sweep();
    return last;
  });
  return next;
};

/** Moves when the sweep looks at a record, if that is open still: as if time had passed, or were still to pass. */
export const moveOpenUntil = async (extractionId: string, openUntil: Date): Promise<void> => {
  const command = new UpdateItemCommand({
    TableName: ExtractionsTableName,
    Key: marshall({ extractionId }),
    UpdateExpression: 'SET openUntil = :then',
    ConditionExpression: 'attribute_exists(openUntil)',
    ExpressionAttributeValues: marshall({ ':then': openUntil.toISOString() }),
  });
  try {
    await aws.dynamo.send(command);
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
};

/** Sweeps whenever an extraction is due, as the schedule would, until nothing is left to do for it. */
export const sweepUntilClosed = async (extractionId: string, timeoutMs = 60_000): Promise<Extraction> => {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    const seen = streamOf(extractionId).at(-1)?.new;
    if (seen !== undefined && seen.open === undefined) return seen;
    const due = seen?.openUntil === undefined ? Number.POSITIVE_INFINITY : Date.parse(seen.openUntil);
    if (due <= Date.now()) await sweepNow();
    // No longer than a second: what the stream told last may be the claim of a sweep that is under way.
    await delay(Math.min(1_000, Math.max(100, due - Date.now())));
  }
  throw new Error(`${extractionId} was not closed by sweeps in ${timeoutMs} ms`);
};
