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
import { queueClient, readQueue } from '../../../tools/cli/aws/queues.ts';
import { sweepNow } from '../../../tools/cli/operate/invoke-functions.ts';
import { providerAnswerMs } from '../assumptions.ts';
import { endedTasks } from './ended-tasks.ts';
import { openItems, putItems } from './fill-open.ts';
import type { Records } from './follow-records.ts';
import { taskOf } from './measure-flatness.ts';
import type { MeasuredSystem } from './measured-system.ts';
import { holdOpen } from './run-batch.ts';

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
const lookEveryMs = 250;

type Scene = MeasuredSystem & {
  readonly lambda: LambdaClient;
  readonly reconcile: string;
  /** Fills the tables with so many due records, whose tasks have ended without a webhook. */
  readonly fill: (count: number) => Promise<void>;
  /** Records in the index that are due before a time. */
  readonly countDue: (time: Date) => Promise<number>;
  /** Later than every lease, and earlier than when the extraction that is held open is due. */
  readonly latest: Date;
};

const prepare = async (system: MeasuredSystem, records: Records): Promise<Scene> => {
  const { emulator, outputs, provider } = system;
  const database = new DynamoDBClient(emulator.client);
  const tables = {
    extractions: outputs.ExtractionsTableName ?? '',
    tasks: outputs.TasksTableName ?? '',
  };
  const [extraction] = await holdOpen(system, records, 1);
  if (extraction === undefined) throw new Error('Nothing is held open.');
  const task = await taskOf(database, tables.tasks, extraction);
  await provider.setFaults([
    {
      method: 'GET',
      path: '/api/v2/tasks/*',
      behaviours: [{ kind: 'slow', delayMs: providerAnswerMs }],
      forSeconds: 7_200,
    },
  ]);
  const fill = async (count: number): Promise<void> => {
    const due = { ...extraction, dueAt: new Date().toISOString() };
    await putItems(database, openItems({ extraction: due, task, tables }, await endedTasks(system, count)));
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
  return {
    ...system,
    lambda: new LambdaClient(emulator.client),
    reconcile: outputs.ReconcileFunctionName ?? '',
    fill,
    countDue,
    latest: new Date(extraction.dueAt ?? ''),
  };
};

/** Sets the most consumers at once. A mapping takes at least two, so that one is a limit of the function. */
const setConsumers = async ({ lambda, reconcile }: Scene, consumers: number): Promise<void> => {
  const { EventSourceMappings = [] } = await lambda.send(
    new ListEventSourceMappingsCommand({ FunctionName: reconcile }),
  );
  await lambda.send(
    new PutFunctionConcurrencyCommand({
      FunctionName: reconcile,
      ReservedConcurrentExecutions: consumers,
    }),
  );
  await lambda.send(
    new UpdateEventSourceMappingCommand({
      UUID: EventSourceMappings[0]?.UUID,
      ScalingConfig: { MaximumConcurrency: Math.max(2, consumers) },
    }),
  );
};

/** Waits until the queue has no message, neither waiting nor received. */
const untilDrained = async ({ emulator, outputs }: Scene): Promise<void> => {
  const client = queueClient({ client: emulator.client, isEmulated: true });
  const signal = AbortSignal.timeout(deadlineMs);
  for (;;) {
    const { waiting, inFlight } = await readQueue(client, outputs.ReconcileQueueUrl ?? '');
    if (waiting + inFlight === 0) return;
    await delay(lookEveryMs, undefined, { signal });
  }
};

/** Sweeps until nothing is due, and waits for the consumers. Their processes are then started. */
const startConsumers = async (scene: Scene, consumers: number): Promise<void> => {
  await setConsumers(scene, consumers);
  await scene.fill(4 * consumers);
  do {
    await sweepNow(scene.lambda, scene.outputs.SweepFunctionName ?? '');
    await untilDrained(scene);
  } while ((await scene.countDue(new Date())) > 0);
};

const drainByQueue = async (
  scene: Scene,
  { consumers, records }: (typeof variants)[number],
): Promise<Drain> => {
  await startConsumers(scene, consumers);
  const before = await scene.countDue(scene.latest);
  await scene.fill(records);
  const began = performance.now();
  const secondsSince = () => (performance.now() - began) / 1_000;
  const { sent, failed } = await sweepNow(scene.lambda, scene.outputs.SweepFunctionName ?? '');
  const sweepSeconds = secondsSince();
  await untilDrained(scene);
  const seconds = secondsSince();
  const left = (await scene.countDue(scene.latest)) - before;
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
  const scene = await prepare(system, records);
  const drains: Drain[] = [];
  for (const variant of variants) {
    const drain = await drainByQueue(scene, variant);
    onDrained(drain);
    drains.push(drain);
  }
  return drains;
};
