/** @module-tag slow */

import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ExtractionStatus } from '../../../lib/extraction/record.ts';
import type { Plan } from '../../../sandbox/plan-schemas.ts';
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
import {
  type AwsCall,
  awsCalls,
  type InjectedFailure,
  injectedFailures,
  tries,
} from './failures-of-aws-calls.ts';
import { planFailure, planKills } from './plan-function-faults.ts';

/** The outcome when the function was killed before, and after, the call took effect. */
type Outcomes = readonly [before: ExtractionStatus, after: ExtractionStatus];

type Call = AwsCall & {
  readonly call: string;
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

const { getItem, updateItem, deleteItem, sendMessage } = awsCalls;
const writing = (status: ExtractionStatus) => ({
  call: `writing ${status}`,
  ...updateItem,
  contains: [`":status":{"S":"${status}"}`],
});

/** No call to the provider was made yet, or the next attempt continues from the record. */
const harmless = { killed: ['COMPLETED', 'COMPLETED'] } as const;

type Path = Pick<Call, 'plan'>;
const busy: Path = { plan: { start: [{ kind: 'answer', status: 429 }] } };
const rejected: Pick<Call, 'plan' | 'otherwise'> = {
  plan: { startForever: { kind: 'answer', status: 400 } },
  otherwise: 'REJECTED',
};
const deliveredEarly: Path = { plan: { start: [{ kind: 'finish-first' }] } };
const unclear: Path = { plan: { startForever: { kind: 'accept-then-answer', status: 503 } } };

const calls: readonly Call[] = [
  { call: 'reading the record', ...getItem, contains: ['{"extractionId"'], ...harmless },
  { call: 'reading the item of the request', ...getItem, contains: ['{"requestId"'], ...harmless },
  { call: 'decrypting the sealed request data', ...awsCalls.decrypt, ...harmless },
  {
    call: 'reading the API key for a Task Token',
    byConsent: true,
    inNewProcess: true,
    ...awsCalls.readSecret,
    ...harmless,
  },
  { ...writing('STARTING'), killed: ['COMPLETED', 'UNCONFIRMED'] },
  { ...writing('RUNNING'), killed: ['UNCONFIRMED', 'COMPLETED'] },
  { call: 'storing the callback token', ...updateItem, contains: ['":token"'], ...harmless },
  { call: 'removing the item of the request', ...deleteItem, ...harmless },
  {
    call: 'removing the item of a request that the provider refused',
    ...deleteItem,
    ...rejected,
    killed: ['REJECTED', 'REJECTED'],
  },
  { ...writing('REQUESTED'), call: 'reverting after a 429', ...busy, killed: ['UNCONFIRMED', 'COMPLETED'] },
  { call: 'asking the machine to retry after a 429', ...awsCalls.failTask, ...busy, ...harmless },
  { ...writing('REJECTED'), ...rejected, killed: ['UNCONFIRMED', 'REJECTED'] },
  {
    ...writing('UNCONFIRMED'),
    ...unclear,
    otherwise: 'UNCONFIRMED',
    killed: ['UNCONFIRMED', 'UNCONFIRMED'],
  },
  { ...writing('COMPLETED'), call: 'settling from an early delivery', ...deliveredEarly, ...harmless },
  { call: 'sending the first message by consent', byConsent: true, ...sendMessage, ...harmless },
  { call: 'sending the message after an early delivery', ...sendMessage, ...deliveredEarly, ...harmless },
  {
    call: 'waking the machine after an early delivery',
    ...awsCalls.succeedTask,
    ...deliveredEarly,
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
  test.for(injectedFailures(call, tries.patient))(
    '$title: the extraction settles, is started at most once, and its request is forgotten',
    async (injected) => {
      const { username, body } = await prepare(call);
      const idempotencyKey = randomUUID();
      const extractionId = extractionIdForKey(idempotencyKey);
      const during = [extractionId, '"callbackToken"'];
      const fault = await planFailure(call, injected, during);
      const kills = call.inNewProcess && (await planKills({ ...writing('STARTING'), during }));

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
      if (
        injected.kind === 'once' ||
        (injected.kind === 'always' && call.operation !== deleteItem.operation)
      ) {
        await eventually(async () => expect(await requestsOf(extractionId)).toEqual([]));
      }
      await forgetRequests(extractionId);
    },
  );
});
