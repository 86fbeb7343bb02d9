import { setTimeout as delay } from 'node:timers/promises';
import { DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';
import {
  LambdaClient,
  ListEventSourceMappingsCommand,
  PutFunctionConcurrencyCommand,
  UpdateEventSourceMappingCommand,
} from '@aws-sdk/client-lambda';
import { marshall } from '@aws-sdk/util-dynamodb';
import { dueShardCount } from '../../../lib/extraction/deadlines.ts';
import { createProviderClient } from '../../../lib/provider/client.ts';
import { DEFAULT_CLIENT_ID } from '../../../sandbox/sandbox.ts';
import { limitParallelCalls } from '../../../tools/acceptance/limit-parallel-calls.ts';
import { queueClient, readQueue } from '../../../tools/cli/aws/queues.ts';
import { sweepNow } from '../../../tools/cli/operate/invoke-functions.ts';
import { providerAnswerMs } from '../assumptions.ts';
import { bodyByCredentials } from '../benchmark-request.ts';
import type { Records } from './follow-records.ts';
import { openItems, putItems, tablesOf, taskOf } from './open-items.ts';
import { holdOpen } from './run-batch.ts';
import type { MeasuredSystem } from './start-measured-system.ts';

/** One consumer takes 0.5 s for each record, so that it gets fewer. */
const variants = [
  { consumers: 1, records: 200 },
  { consumers: 10, records: 5_000 },
  { consumers: 50, records: 5_000 },
] as const;

export type Drain = {
  readonly what: string;
  readonly records: number;
  /** From the start of the sweep until the last record was closed. */
  readonly seconds: number;
  /** Until the sweep had sent everything. */
  readonly sweepSeconds: number;
  readonly perSecond: number;
};

const deadlineMs = 600_000;
const readEveryMs = 250;

/** A system in which due records are made. */
type BacklogSystem = MeasuredSystem & {
  readonly lambda: LambdaClient;
  /** Fills the tables with so many due records, whose tasks have ended without a webhook. */
  readonly fill: (count: number) => Promise<void>;
  /** Records in the index that are due before a time. */
  readonly countDue: (time: Date) => Promise<number>;
  /** Later than every lease, and earlier than when the extraction that is held open is due. */
  readonly latest: Date;
};

const prepare = async (system: MeasuredSystem, records: Records): Promise<BacklogSystem> => {
  const { emulator, provider, access } = system;
  const database = new DynamoDBClient(emulator.client);
  const tables = tablesOf(system);
  const [extraction] = await holdOpen(system, records, 1);
  const task = await taskOf(database, tables.tasks, extraction);
  await provider.setPlan('drained', { outcome: 'COMPLETED', durationMs: 0 });
  await provider.setFaults([
    {
      method: 'GET',
      path: '/api/v2/tasks/*',
      behaviours: [{ kind: 'slow', delayMs: providerAnswerMs }],
      forSeconds: 7_200,
    },
  ]);
  const client = createProviderClient({
    ...access,
    clientId: DEFAULT_CLIENT_ID,
    fetch,
    totalTimeoutMs: 60_000,
  });
  const atOnce = limitParallelCalls(16);
  // They end at once, and the provider sends no webhook for them.
  const startTask = () => atOnce(() => client.startTask(bodyByCredentials('drained')));
  const fill = async (count: number): Promise<void> => {
    const due = { ...extraction, dueAt: new Date().toISOString() };
    const taskIds = await Promise.all(Array.from({ length: count }, startTask));
    await putItems(database, openItems({ extraction: due, task, tables }, taskIds));
  };
  const countDue = async (time: Date): Promise<number> => {
    const counts = Array.from({ length: dueShardCount }, (_, shard) =>
      database.send(
        new QueryCommand({
          TableName: tables.extractions,
          IndexName: 'due',
          KeyConditionExpression: 'dueShard = :shard AND dueAt < :end',
          ExpressionAttributeValues: marshall({ ':shard': shard, ':end': time.toISOString() }),
          Select: 'COUNT',
        }),
      ),
    );
    return (await Promise.all(counts)).reduce((sum, { Count = 0 }) => sum + Count, 0);
  };
  const lambda = new LambdaClient(emulator.client);
  return { ...system, lambda, fill, countDue, latest: new Date(extraction.dueAt ?? '') };
};

/** Sets the most consumers at once. A mapping takes at least two, so that one is a limit of the function. */
const setConsumers = async ({ lambda, outputs }: BacklogSystem, consumers: number): Promise<void> => {
  const FunctionName = outputs.ReconcileFunctionName;
  const { EventSourceMappings = [] } = await lambda.send(
    new ListEventSourceMappingsCommand({ FunctionName }),
  );
  await lambda.send(
    new PutFunctionConcurrencyCommand({ FunctionName, ReservedConcurrentExecutions: consumers }),
  );
  await lambda.send(
    new UpdateEventSourceMappingCommand({
      UUID: EventSourceMappings[0]?.UUID,
      ScalingConfig: { MaximumConcurrency: Math.max(2, consumers) },
    }),
  );
};

/** Waits until the queue has no message, neither waiting nor received. */
const untilDrained = async ({ emulator, outputs }: BacklogSystem): Promise<void> => {
  const client = queueClient({ client: emulator.client, isEmulated: true });
  const signal = AbortSignal.timeout(deadlineMs);
  for (;;) {
    const { waiting, inFlight } = await readQueue(client, outputs.ReconcileQueueUrl ?? '');
    if (waiting + inFlight === 0) return;
    await delay(readEveryMs, undefined, { signal });
  }
};

/** Sweeps until nothing is due, and waits for the consumers. Their processes are then started. */
const startConsumers = async (system: BacklogSystem, consumers: number): Promise<void> => {
  await setConsumers(system, consumers);
  await system.fill(4 * consumers);
  do {
    await sweepNow(system.lambda, system.outputs.SweepFunctionName ?? '');
    await untilDrained(system);
  } while ((await system.countDue(new Date())) > 0);
};

const drainByQueue = async (
  system: BacklogSystem,
  { consumers, records }: (typeof variants)[number],
): Promise<Drain> => {
  await startConsumers(system, consumers);
  const before = await system.countDue(system.latest);
  await system.fill(records);
  const began = performance.now();
  const secondsSince = () => (performance.now() - began) / 1_000;
  const { sent, failed } = await sweepNow(system.lambda, system.outputs.SweepFunctionName ?? '');
  const sweepSeconds = secondsSince();
  await untilDrained(system);
  const seconds = secondsSince();
  const left = (await system.countDue(system.latest)) - before;
  if (sent !== records || left !== 0)
    throw new Error(`Of ${records}, ${sent} were sent, ${failed} failed, and ${left} are open.`);
  const perSecond = records / seconds;
  const what = `${consumers} ${consumers === 1 ? 'consumer' : 'consumers'}`;
  return { what, records, seconds, sweepSeconds, perSecond };
};

/**
 * How fast due records are reconciled until they are closed, with several numbers of consumers. Each record needs one read
 * of the provider, which takes as long as `npm run cost` assumes, and stores results.
 */
export const measureDrain = async (
  system: MeasuredSystem,
  records: Records,
  onDrained: (drain: Drain) => void,
): Promise<readonly Drain[]> => {
  const backlog = await prepare(system, records);
  const drains: Drain[] = [];
  for (const variant of variants) {
    const drain = await drainByQueue(backlog, variant);
    onDrained(drain);
    drains.push(drain);
  }
  return drains;
};
