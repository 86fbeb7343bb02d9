/**
 * The sweep as it was before the reconcile queue, in this process: it finds what is due, claims it, and reconciles eight
 * records at a time by itself. Then it sends its parent how many it closed.
 */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { dynamoExtractionStore } from '../../../lib/aws/dynamo-extraction-store.ts';
import { patientClient } from '../../../lib/aws/wiring/client-options.ts';
import { requiredVariable } from '../../../lib/aws/wiring/environment.ts';
import { reconcilerFromEnvironment } from '../../../lib/aws/wiring/reconciler.ts';
import { dueShardCount, plusSeconds } from '../../../lib/extraction/deadlines.ts';
import { claimDue, type DueRecord } from '../../../lib/extraction/transitions.ts';

export type Swept = { readonly closed: number; readonly seconds: number };

/** The most that it found in each shard, and reconciled at a time. */
const perShard = 100;
const atOnce = 8;
const claimSeconds = 300;

const now = () => new Date();
const { reconcileOne } = reconcilerFromEnvironment(now);
const extractions = dynamoExtractionStore(
  new DynamoDBClient(patientClient),
  requiredVariable('EXTRACTIONS_TABLE'),
);

/** Whether it closed the record. */
const sweepOne = async (found: DueRecord): Promise<boolean> => {
  if ((await extractions.get(found.extractionId)) === undefined) return false;
  const { applied } = await extractions.apply(claimDue({ found, dueAt: plusSeconds(now(), claimSeconds) }));
  return applied && (await reconcileOne(found.extractionId, { kind: 'operator' })).kind === 'closed';
};

const sweep = async (): Promise<number> => {
  const shards = Array.from({ length: dueShardCount }, (_, shard) => extractions.due(shard, now(), perShard));
  const queue = (await Promise.all(shards)).flat();
  let closed = 0;
  const work = async (): Promise<void> => {
    for (let found = queue.shift(); found !== undefined; found = queue.shift()) {
      if (await sweepOne(found)) closed += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return closed;
};

process.on('disconnect', () => process.exit(0));
const began = performance.now();
const closed = await sweep();
process.send?.({ closed, seconds: (performance.now() - began) / 1_000 } satisfies Swept);
process.disconnect();
