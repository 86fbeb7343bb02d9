import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { paginateListExecutions, SFNClient } from '@aws-sdk/client-sfn';
import type { Extraction } from '../../../lib/extraction/record.ts';
import { limitTo } from '../../e2e/support/pace.ts';
import type { Plan } from '../../sandbox/plan.ts';
import type { Records } from './follow-records.ts';
import { type Invocation, invocationsSince } from './invocation.ts';
import type { MeasuredSystem } from './measured-system.ts';

/** A valid request, by the credentials that the provider's plan is known by. */
const requestFor = (username: string) => ({
  entity: 'sandbox-bank',
  credentials: { mode: 'raw', value: { username, password: 'any-will-do' } },
  actions: [
    { id: 'product-balance' },
    { id: 'movement', params: { dateRange: { startDate: '2026-01-01', endDate: '2026-01-31' } } },
  ],
});

/** By signed HTTP, as callers do. Throws where it is not accepted. */
const request = async ({ api, fetch, provider }: MeasuredSystem, plan: Plan): Promise<string> => {
  const username = randomUUID();
  await provider.setPlan(username, plan);
  const answer = await fetch(`${api}/extractions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    body: JSON.stringify(requestFor(username)),
  });
  if (answer.status !== 202) throw new Error(`Answered ${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as { extractionId: string }).extractionId;
};

/** Extractions that run until somebody ends them at the provider. */
export const holdOpen = (
  system: MeasuredSystem,
  records: Records,
  count: number,
): Promise<readonly Extraction[]> => {
  const atOnce = limitTo(4);
  const one = async () => {
    const extractionId = await request(system, { durationMs: null });
    return records.when(extractionId, 'running', ({ status }) => status === 'RUNNING');
  };
  return Promise.all(Array.from({ length: count }, () => atOnce(one)));
};

export type Batch = {
  readonly size: number;
  /** From the first request until the last record was closed. */
  readonly seconds: number;
  /** Of each, from its request until it was closed. */
  readonly secondsEach: readonly number[];
  readonly records: readonly Extraction[];
  readonly invocations: readonly Invocation[];
};

const pollEveryMs = 100;

/** Neither the end of an execution nor that of an invocation is pushed to anybody. */
const until = async (isSo: () => Promise<boolean> | boolean, what: string): Promise<void> => {
  const deadline = Date.now() + 60_000;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`It took over a minute until ${what}.`);
    await delay(pollEveryMs);
  }
};

export type BatchOrder = {
  readonly size: number;
  /** Of them under way at a time. */
  readonly most: number;
  /** How long the provider takes for each. */
  readonly durationMs: number;
  /** Executions that stay open meanwhile. */
  readonly held: number;
};

/** Runs extractions through the whole system to their end. Throws where one does not end as the provider says. */
export const runBatch = async (
  system: MeasuredSystem,
  records: Records,
  { size, most, durationMs, held }: BatchOrder,
): Promise<Batch> => {
  const beganAt = Date.now();
  const began = performance.now();
  const atOnce = limitTo(most);
  const one = async () => {
    const from = performance.now();
    const extractionId = await request(system, { outcome: 'COMPLETED', durationMs });
    const record = await records.when(extractionId, 'closed', ({ open }) => open === undefined);
    if (record.status !== 'COMPLETED') throw new Error(`${extractionId} ended ${record.status}.`);
    return { record, seconds: (performance.now() - from) / 1_000 };
  };
  const ones = await Promise.all(Array.from({ length: size }, () => atOnce(one)));
  const seconds = (performance.now() - began) / 1_000;

  const machine = new SFNClient(system.emulator.client);
  const running = async (): Promise<number> => {
    let count = 0;
    const asked = { stateMachineArn: system.outputs.StateMachineArn, statusFilter: 'RUNNING' } as const;
    for await (const { executions = [] } of paginateListExecutions({ client: machine }, asked)) {
      count += executions.length;
    }
    return count;
  };
  await until(async () => (await running()) === held, 'the executions had ended');
  const received = () =>
    invocationsSince(system.invocations, beganAt).filter(
      ({ functionName }) => functionName === 'receive-webhook',
    ).length;
  await until(() => received() >= size, 'the deliveries were answered');
  return {
    size,
    seconds,
    secondsEach: ones.map((each) => each.seconds),
    records: ones.map(({ record }) => record),
    invocations: invocationsSince(system.invocations, beganAt),
  };
};
