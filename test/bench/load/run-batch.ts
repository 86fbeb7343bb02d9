import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { paginateListExecutions, SFNClient } from '@aws-sdk/client-sfn';
import type { Extraction } from '../../../lib/extraction/record.ts';
import type { Plan } from '../../../sandbox/plan-schemas.ts';
import { limitParallelCalls } from '../../../tools/acceptance/limit-parallel-calls.ts';
import { bodyByCredentials, request } from '../benchmark-request.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Records } from './follow-records.ts';
import type { MeasuredSystem } from './start-measured-system.ts';

/** Requests an extraction whose task has this plan. */
const requestWith = async ({ api, provider }: MeasuredSystem, plan: Plan): Promise<string> => {
  const username = randomUUID();
  await provider.setPlan(username, plan);
  return request(api, bodyByCredentials(username));
};

/** Starts extractions whose tasks do not end by themselves. */
export const holdOpen = async (
  system: MeasuredSystem,
  records: Records,
  count: number,
): Promise<readonly [Extraction, ...Extraction[]]> => {
  const atOnce = limitParallelCalls(4);
  const one = async () => {
    const extractionId = await requestWith(system, { durationMs: null });
    return records.when(extractionId, 'running', ({ status }) => status === 'RUNNING');
  };
  const [first, ...others] = await Promise.all(Array.from({ length: count }, () => atOnce(one)));
  if (first === undefined) throw new Error('Nothing is held open.');
  return [first, ...others];
};

type Batch = {
  readonly size: number;
  /** From the first request until the last record was closed. */
  readonly seconds: number;
  /** Of each, from its request until it was closed. */
  readonly secondsEach: readonly number[];
  readonly records: readonly Extraction[];
  /** Of every function, from the first request on. */
  readonly entries: readonly Entry[];
};

const pollEveryMs = 100;
const timeoutMs = 60_000;

/** Polls, because the end of an execution has no event here. */
const untilStillRunning = async (
  { emulator, outputs }: MeasuredSystem,
  wanted: number,
  signal: AbortSignal,
): Promise<void> => {
  const client = new SFNClient(emulator.client);
  const asked = { stateMachineArn: outputs.StateMachineArn, statusFilter: 'RUNNING' } as const;
  for (;;) {
    let running = 0;
    for await (const { executions = [] } of paginateListExecutions({ client }, asked)) {
      running += executions.length;
    }
    if (running === wanted) return;
    await delay(pollEveryMs, undefined, { signal });
  }
};

const isDelivery = (entry: Entry): boolean => entry.function === 'receive-webhook';

type BatchOrder = {
  readonly size: number;
  /** How many run at a time. */
  readonly most: number;
  /** The duration of each task, in milliseconds. */
  readonly durationMs: number;
  /** Executions that stay open meanwhile. */
  readonly held: number;
};

/** Runs extractions through the whole system until they are closed. Throws if a status is not the provider's. */
export const runBatch = async (
  system: MeasuredSystem,
  records: Records,
  { size, most, durationMs, held }: BatchOrder,
): Promise<Batch> => {
  const { ledger } = system;
  const before = ledger.entries();
  const began = performance.now();
  const atOnce = limitParallelCalls(most);
  const one = async () => {
    const from = performance.now();
    const extractionId = await requestWith(system, { outcome: 'COMPLETED', durationMs });
    const record = await records.when(extractionId, 'closed', ({ dueShard }) => dueShard === undefined);
    if (record.status !== 'COMPLETED') throw new Error(`${extractionId} ended ${record.status}.`);
    return { record, seconds: (performance.now() - from) / 1_000 };
  };
  const ones = await Promise.all(Array.from({ length: size }, () => atOnce(one)));
  const seconds = (performance.now() - began) / 1_000;

  const signal = AbortSignal.timeout(timeoutMs);
  await untilStillRunning(system, held, signal);
  await ledger.atLeast(before.filter(isDelivery).length + size, isDelivery, signal);
  return {
    size,
    seconds,
    secondsEach: ones.map((each) => each.seconds),
    records: ones.map(({ record }) => record),
    entries: ledger.entries().slice(before.length),
  };
};
