import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ExtractionStatus } from '../../../lib/extraction/record.ts';
import type { Plan } from '../../sandbox/plan-schemas.ts';
import { eventually } from '../../support/eventually.ts';
import { authorized, consentRequest } from '../support/authorized-consents.ts';
import { backdate } from '../support/backdate.ts';
import {
  extract,
  extractionIdForKey,
  plannedUsername,
  possiblyAcceptedStartsOf,
  provider,
  requestFor,
} from '../support/call-extractions.ts';
import { historyOf } from '../support/execution.ts';
import { closed, inStatus } from '../support/records.ts';
import { forgetRequests, requestsOf } from '../support/request-items.ts';
import { type InjectedFailure, injectedFailures, type Service, tries } from './injected-failures.ts';
import { planFault, planKills } from './plan-function-faults.ts';

/** The outcome when the function was killed before, and after, the call took effect. */
type Outcomes = readonly [before: ExtractionStatus, after: ExtractionStatus];

type Call = {
  readonly call: string;
  readonly service: Service;
  readonly operation: string;
  readonly contains?: readonly string[];
  readonly writes: boolean;
  /** How often the client tries the call. Default as a patient one. */
  readonly attempts?: number;
  /** Only the first call of a process. */
  readonly inNewProcess?: true;
  /** The provider's behaviour that leads to this call. */
  readonly plan?: Plan;
  readonly byConsent?: true;
  /** The outcome when the function is not killed. Default COMPLETED. */
  readonly otherwise?: ExtractionStatus;
  /** The machine retries a killed function. A start whose STARTING write is done is not repeated: UNCONFIRMED. */
  readonly killed: Outcomes;
};

const setsStatus = (status: ExtractionStatus) => [`":status":{"S":"${status}"}`];
const update = { service: 'dynamodb', operation: 'DynamoDB_20120810.UpdateItem', writes: true } as const;
const read = { service: 'dynamodb', operation: 'DynamoDB_20120810.GetItem', writes: false } as const;
const remove = {
  service: 'dynamodb',
  operation: 'DynamoDB_20120810.DeleteItem',
  writes: true,
  attempts: tries.removing,
} as const;
const answer = { service: 'stepFunctions', writes: true } as const;
const sendMessage = { service: 'sqs', operation: 'AmazonSQS.SendMessage', writes: true } as const;
const readSecret = {
  service: 'secretsManager',
  operation: 'secretsmanager.GetSecretValue',
  writes: false,
} as const;

/** No call to the provider was made yet, or the next attempt continues from the record. */
const harmless = { killed: ['COMPLETED', 'COMPLETED'] } as const;

const calls: readonly Call[] = [
  { call: 'reading the record', ...read, contains: ['{"extractionId"'], ...harmless },
  { call: 'reading the item of the request', ...read, contains: ['{"requestId"'], ...harmless },
  {
    call: 'decrypting the sealed request data',
    service: 'kms',
    operation: 'TrentService.Decrypt',
    writes: false,
    ...harmless,
  },
  {
    call: 'reading the API key for a Task Token',
    byConsent: true,
    inNewProcess: true,
    ...readSecret,
    ...harmless,
  },
  {
    call: 'writing STARTING',
    ...update,
    contains: setsStatus('STARTING'),
    killed: ['COMPLETED', 'UNCONFIRMED'],
  },
  {
    call: 'writing RUNNING',
    ...update,
    contains: setsStatus('RUNNING'),
    killed: ['UNCONFIRMED', 'COMPLETED'],
  },
  { call: 'storing the callback token', ...update, contains: ['":token"'], ...harmless },
  { call: 'removing the item of the request', ...remove, ...harmless },
  {
    call: 'removing the item of a request that the provider refused',
    ...remove,
    plan: { startForever: { kind: 'answer', status: 400 } },
    otherwise: 'REJECTED',
    killed: ['REJECTED', 'REJECTED'],
  },
  {
    call: 'reverting to REQUESTED after a 429',
    ...update,
    contains: setsStatus('REQUESTED'),
    plan: { start: [{ kind: 'answer', status: 429 }] },
    killed: ['UNCONFIRMED', 'COMPLETED'],
  },
  {
    call: 'asking the machine to retry after a 429',
    ...answer,
    operation: 'AWSStepFunctions.SendTaskFailure',
    plan: { start: [{ kind: 'answer', status: 429 }] },
    ...harmless,
  },
  {
    call: 'writing REJECTED',
    ...update,
    contains: setsStatus('REJECTED'),
    plan: { startForever: { kind: 'answer', status: 400 } },
    otherwise: 'REJECTED',
    killed: ['UNCONFIRMED', 'REJECTED'],
  },
  {
    call: 'writing UNCONFIRMED',
    ...update,
    contains: setsStatus('UNCONFIRMED'),
    plan: { startForever: { kind: 'accept-then-answer', status: 503 } },
    otherwise: 'UNCONFIRMED',
    killed: ['UNCONFIRMED', 'UNCONFIRMED'],
  },
  {
    call: 'settling from an early delivery',
    ...update,
    contains: setsStatus('COMPLETED'),
    plan: { start: [{ kind: 'finish-first' }] },
    ...harmless,
  },
  { call: 'sending the first message by consent', byConsent: true, ...sendMessage, ...harmless },
  {
    call: 'sending the message after an early delivery',
    ...sendMessage,
    plan: { start: [{ kind: 'finish-first' }] },
    ...harmless,
  },
  {
    call: 'waking the machine after an early delivery',
    ...answer,
    operation: 'AWSStepFunctions.SendTaskSuccess',
    plan: { start: [{ kind: 'finish-first' }] },
    ...harmless,
  },
];

/** start-task repeats each write when the SDK's tries are used up, so that it fails only if it is killed. */
const expectedOutcome = (call: Call, { kind, when }: InjectedFailure): ExtractionStatus =>
  kind === 'killed' ? call.killed[when === 'before' ? 0 : 1] : (call.otherwise ?? 'COMPLETED');

/** A request, and the username or national id that the provider knows it by. */
const prepare = async ({ plan = {}, byConsent }: Call) => {
  if (byConsent !== true) {
    const username = await plannedUsername(plan);
    return { username, body: requestFor(username) };
  }
  const user = await authorized(plan);
  return { username: user.target, body: consentRequest(user) };
};

describe.each(calls)('start-task, $call', (call) => {
  test.for(injectedFailures(call, call.attempts ?? tries.patient))(
    '$title: the extraction settles, is started at most once, and its request is forgotten',
    async (injected) => {
      const { username, body } = await prepare(call);
      const idempotencyKey = randomUUID();
      const extractionId = extractionIdForKey(idempotencyKey);
      const { operation, contains = [], inNewProcess } = call;
      const { when, times = 1, effect } = injected;
      const during = [extractionId, '"callbackToken"'];
      const fault = await planFault({ operation, contains, during, when, times, effect });
      const kills =
        inNewProcess &&
        (await planKills({ operation: update.operation, contains: setsStatus('STARTING'), during }));

      await extract(body, { idempotencyKey });
      if (kills !== undefined) {
        await eventually(() => expect(fault.wasInjected()).toBe(true));
        await kills.cancel();
      }
      const expected = expectedOutcome(call, injected);
      if (injected.kind === 'killed' && expected === 'UNCONFIRMED') {
        // The machine's retries wait until the killed attempt is stale.
        await inStatus(extractionId, 'STARTING');
        await eventually(() => expect(fault.wasInjected()).toBe(true));
        await backdate(extractionId, 'startingAt');
      }
      const record = await closed(extractionId);
      expect(record.status).toBe(expected);
      expect((await historyOf(extractionId)).at(-1)?.type).toBe('ExecutionSucceeded');
      expect(fault.wasInjected()).toBe(true);

      const starts = await possiblyAcceptedStartsOf(username);
      expect(starts.length).toBeLessThanOrEqual(1);
      const tasks = [...(await provider.tasks({ username })), ...(await provider.polledTasks({ username }))];
      expect(tasks.length).toBeLessThanOrEqual(1);
      if (expected === 'COMPLETED') expect(tasks.map(({ taskId }) => taskId)).toEqual([record.taskId]);
      // A killed process may leave the item, if the machine ended before it could repeat the start. It then expires.
      if (injected.kind === 'once' || (injected.kind === 'always' && operation !== remove.operation)) {
        await eventually(async () => expect(await requestsOf(extractionId)).toEqual([]));
      }
      await forgetRequests(extractionId);
    },
  );
});
