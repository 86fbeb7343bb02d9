/** @module-tag slow */

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { ExtractionStatus } from '#lib/extraction/record.ts';
import type { Plan } from '../../../sandbox/plan-schemas.ts';
import { limitParallelCalls } from '../../../tools/cli/operate/limit-parallel-calls.ts';
import { eventually } from '../../support/eventually.ts';
import { authorized, consentRequest } from '../support/authorized-consents.ts';
import { backdate } from '../support/backdate.ts';
import {
  deliveriesEnded,
  extract,
  extractionIdForKey,
  plannedUsername,
  possiblyAcceptedStartsOf,
  postOnce,
  provider,
  requestFor,
  startCallsOf,
  uniqueUsername,
} from '../support/call-extractions.ts';
import { historyOf } from '../support/execution.ts';
import { closed, inStatus, readRecord, statusesOf } from '../support/records.ts';
import { quietlyRunning, running } from '../support/running-extractions.ts';
import { sweepUntilClosed } from '../support/sweep-until-closed.ts';
import {
  type AwsCall,
  awsCalls,
  type InjectedFailure,
  injectedFailures,
  tries,
} from './failures-of-aws-calls.ts';
import { planFailure, untilInjected } from './plan-function-faults.ts';

/*
 * That the bundles, with the retries of the SDK, lose nothing at the writes that matter most. The simulation lets every call of the
 * core fail, and `npm run soak` draws every call of every function.
 */

/** Brings an extraction to the call, lets that fail, and checks how it ends. */
type Scenario = (call: AwsCall, failure: InjectedFailure) => Promise<void>;

const { updateItem, putItem } = awsCalls;
const writing = (status: ExtractionStatus) => ({
  ...updateItem,
  contains: [`":status":{"S":"${status}"}`],
});

/** `recorded`: whether the record exists when the call failed before, and after, it took effect. */
const requesting =
  (...recorded: readonly [before: boolean, after: boolean]): Scenario =>
  async (call, failure) => {
    const { kind, when } = failure;
    const username = uniqueUsername();
    const idempotencyKey = randomUUID();
    const extractionId = extractionIdForKey(idempotencyKey);
    const fault = await planFailure(call, failure, [idempotencyKey, '"POST /extractions"']);
    const answer = await untilInjected(fault, () => postOnce(requestFor(username), { idempotencyKey }));
    if (kind !== 'once') {
      expect(answer.status).toBeGreaterThanOrEqual(500);
      if (kind === 'always') expect(answer.headers.get('content-type')).toBe('application/problem+json');
      expect((await readRecord(extractionId)) !== undefined).toBe(recorded[when === 'before' ? 0 : 1]);
    }
    await extract(requestFor(username), { idempotencyKey });
    expect(await closed(extractionId)).toMatchObject({ status: 'COMPLETED' });
    expect(await startCallsOf(username)).toHaveLength(1);
  };

/**
 * How it ends if start-task was killed before, and after, the call. The machine retries it. A start whose STARTING write is done is not
 * repeated. Without a kill, start-task repeats each write when the tries of the SDK are used up.
 */
const starting =
  (killed: readonly [before: ExtractionStatus, after: ExtractionStatus], plan: Plan = {}): Scenario =>
  async (call, failure) => {
    const username = await plannedUsername(plan);
    const idempotencyKey = randomUUID();
    const extractionId = extractionIdForKey(idempotencyKey);
    const fault = await planFailure(call, failure, [extractionId, '"callbackToken"']);
    await extract(requestFor(username), { idempotencyKey });
    const expected = failure.kind === 'killed' ? killed[failure.when === 'before' ? 0 : 1] : 'COMPLETED';
    if (expected === 'UNCONFIRMED') {
      // The machine's retries wait until the killed attempt is stale.
      await inStatus(extractionId, 'STARTING');
      await eventually(() => expect(fault.wasInjected()).toBe(true));
      await backdate(extractionId, 'startingAt');
    }
    expect(await closed(extractionId)).toMatchObject({ status: expected });
    expect((await historyOf(extractionId)).at(-1)?.type).toBe('ExecutionSucceeded');
    expect(fault.wasInjected()).toBe(true);
    expect((await possiblyAcceptedStartsOf(username)).length).toBeLessThanOrEqual(1);
    expect((await provider.tasks({ username })).length).toBeLessThanOrEqual(1);
  };

/** The emulator starts a process for each. All at once would let deliveries of other files time out. */
const paced = limitParallelCalls(4);

const delivering: Scenario = (call, failure) =>
  paced(async () => {
    const { extractionId, taskId } = await running();
    const fault = await planFailure(call, failure, [taskId, '"POST /webhooks/provider"']);
    await provider.finish(taskId, 'COMPLETED');
    await deliveriesEnded(taskId);
    expect(fault.wasInjected()).toBe(true);
    // On a busy machine further deliveries may fail, but none is refused.
    const statuses = (await provider.task(taskId)).deliveries.map(({ status = 500 }) => status);
    expect(statuses.filter((status) => status !== 204 && status < 500)).toEqual([]);
    expect(statuses.at(-1)).toBe(204);
    if (failure.kind !== 'once') expect(statuses[0]).toBeGreaterThanOrEqual(500);
    expect(await closed(extractionId)).toMatchObject({ status: 'COMPLETED', settledBy: 'webhook' });
    expect(statusesOf(extractionId)).toEqual(['REQUESTED', 'STARTING', 'RUNNING', 'COMPLETED']);
  });

const reconciling: Scenario = async (call, failure) => {
  const user = await authorized();
  const idempotencyKey = randomUUID();
  const extractionId = extractionIdForKey(idempotencyKey);
  const fault = await planFailure(call, failure, [extractionId, '"aws:sqs"']);
  await extract(consentRequest(user), { idempotencyKey });
  await eventually(() => expect(fault.wasInjected()).toBe(true));
  // A message would be received again minutes later.
  const record = await sweepUntilClosed(extractionId);
  expect(record).toMatchObject({ status: 'COMPLETED', settledBy: 'reconcile' });
  expect(record.results?.bytes).toBeGreaterThan(0);
  expect(await possiblyAcceptedStartsOf(user.target)).toHaveLength(1);
};

const sweeping: Scenario = async (call, failure) => {
  const { extractionId, taskId } = await quietlyRunning();
  await provider.finish(taskId, 'COMPLETED');
  const contains = [extractionId, ...(call.contains ?? [])];
  const fault = await planFailure({ ...call, contains }, failure, [extractionId, '"trigger":"sweep"']);
  expect(await sweepUntilClosed(extractionId)).toMatchObject({ status: 'COMPLETED', settledBy: 'reconcile' });
  expect(fault.wasInjected()).toBe(true);
};

const calls: readonly (readonly [what: string, AwsCall, attempts: number, Scenario])[] = [
  [
    'request-extraction records the request',
    { ...putItem, contains: ['"fingerprint"'] },
    tries.intake,
    requesting(false, true),
  ],
  ['request-extraction starts the execution', awsCalls.startExecution, tries.intake, requesting(true, true)],
  ['start-task writes STARTING', writing('STARTING'), tries.patient, starting(['COMPLETED', 'UNCONFIRMED'])],
  ['start-task writes RUNNING', writing('RUNNING'), tries.patient, starting(['UNCONFIRMED', 'COMPLETED'])],
  [
    'start-task wakes the machine after an early delivery',
    awsCalls.succeedTask,
    tries.patient,
    starting(['COMPLETED', 'COMPLETED'], { start: [{ kind: 'finish-first' }] }),
  ],
  [
    'receive-webhook settles the extraction',
    { ...updateItem, contains: ['":status"', '":was0"'] },
    tries.prompt,
    delivering,
  ],
  ['receive-webhook wakes the machine', awsCalls.succeedTask, tries.prompt, delivering],
  ['reconcile-extraction settles the extraction', writing('COMPLETED'), tries.patient, reconciling],
  ['reconcile-extraction stores the results', awsCalls.putObject, tries.patient, reconciling],
  ['sweep-extractions leases the record', { ...updateItem, contains: ['":dueAt"'] }, tries.patient, sweeping],
  ['sweep-extractions sends the batch', awsCalls.sendBatch, tries.patient, sweeping],
];

test.for(
  calls.flatMap(([what, call, attempts, scenario]) =>
    injectedFailures(call, attempts).map((failure) => ({ what, call, failure, scenario })),
  ),
)('$what, $failure.title', ({ call, failure, scenario }) => scenario(call, failure));
