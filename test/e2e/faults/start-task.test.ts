import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ExtractionStatus } from '../../../lib/extraction/record.ts';
import type { Plan } from '../../sandbox/plan.ts';
import { backdate } from '../support/backdate.ts';
import { authorized, consentRequest } from '../support/consent-extractions.ts';
import { eventually } from '../support/eventually.ts';
import { historyOf } from '../support/execution.ts';
import {
  extract,
  extractionIdForKey,
  plannedUsername,
  provider,
  requestFor,
  takenStartsOf,
} from '../support/extractions.ts';
import { planFault } from '../support/faults.ts';
import { closed, inStatus } from '../support/records.ts';
import { type Mishap, mishapsOf, type Service, tries } from './injected-faults.ts';

/** How the extraction ends where the function was cut off before and after the call took effect. */
type Ends = readonly [before: ExtractionStatus, after: ExtractionStatus];

type Call = {
  readonly what: string;
  readonly service: Service;
  readonly operation: string;
  readonly contains?: readonly string[];
  readonly writes: boolean;
  /** How many such calls come before the one that is meant. */
  readonly skip?: number;
  /** What the provider does, so that the function comes to make this call. */
  readonly plan?: Plan;
  readonly byConsent?: true;
  /** Without a mishap, or with one that passes; COMPLETED if left out. */
  readonly otherwise?: ExtractionStatus;
  /** The machine retries a function that died. A start that was claimed is not made again: UNCONFIRMED. */
  readonly killed: Ends;
};

const setsStatus = (status: ExtractionStatus) => [`":status":{"S":"${status}"}`];
const update = { service: 'dynamodb', operation: 'DynamoDB_20120810.UpdateItem', writes: true } as const;
const answer = { service: 'stepFunctions', writes: true } as const;
const readSecret = {
  service: 'secretsManager',
  operation: 'secretsmanager.GetSecretValue',
  writes: false,
} as const;

/** Either nothing has left for the provider yet, or the next try finds where this one got to. */
const harmless = { killed: ['COMPLETED', 'COMPLETED'] } as const;

const calls: readonly Call[] = [
  {
    what: 'as it reads the record',
    service: 'dynamodb',
    operation: 'DynamoDB_20120810.GetItem',
    writes: false,
    ...harmless,
  },
  {
    what: 'as it opens the seal',
    service: 'kms',
    operation: 'TrentService.Decrypt',
    writes: false,
    ...harmless,
  },
  { what: 'as it reads the API key for a Task Token', byConsent: true, ...readSecret, ...harmless },
  {
    what: 'as it reads the API key for another Task Token, after a 401',
    byConsent: true,
    skip: 1,
    plan: { start: [{ kind: 'expire-session' }] },
    ...readSecret,
    killed: ['UNCONFIRMED', 'UNCONFIRMED'],
  },
  {
    what: 'as it writes its mark',
    ...update,
    contains: setsStatus('STARTING'),
    killed: ['COMPLETED', 'UNCONFIRMED'],
  },
  {
    what: 'as it records that the task runs',
    ...update,
    contains: setsStatus('RUNNING'),
    killed: ['UNCONFIRMED', 'COMPLETED'],
  },
  {
    what: 'as it leaves its token',
    ...update,
    contains: ['":token"'],
    ...harmless,
  },
  {
    what: 'as it takes its mark back, after a 429',
    ...update,
    contains: setsStatus('REQUESTED'),
    plan: { start: [{ kind: 'answer', status: 429 }] },
    killed: ['UNCONFIRMED', 'COMPLETED'],
  },
  {
    what: 'as it asks the machine to try again, after a 429',
    ...answer,
    operation: 'AWSStepFunctions.SendTaskFailure',
    plan: { start: [{ kind: 'answer', status: 429 }] },
    ...harmless,
  },
  {
    what: 'as it records a refusal',
    ...update,
    contains: setsStatus('REJECTED'),
    plan: { startForever: { kind: 'answer', status: 400 } },
    otherwise: 'REJECTED',
    killed: ['UNCONFIRMED', 'REJECTED'],
  },
  {
    what: 'as it records that nobody can know',
    ...update,
    contains: setsStatus('UNCONFIRMED'),
    plan: { startForever: { kind: 'accept-then-answer', status: 503 } },
    otherwise: 'UNCONFIRMED',
    killed: ['UNCONFIRMED', 'UNCONFIRMED'],
  },
  {
    what: 'as it settles by a webhook that came early',
    ...update,
    contains: setsStatus('COMPLETED'),
    plan: { start: [{ kind: 'finish-first' }] },
    ...harmless,
  },
  {
    what: 'as it tells the machine that there is nothing to wait for',
    ...answer,
    operation: 'AWSStepFunctions.SendTaskSuccess',
    plan: { start: [{ kind: 'finish-first' }] },
    ...harmless,
  },
];

/** Start-task tries each write again when the SDK has used up its tries: none of them is lost. */
const endOf = (call: Call, { kind, when }: Mishap): ExtractionStatus =>
  kind === 'killed' ? call.killed[when === 'before' ? 0 : 1] : (call.otherwise ?? 'COMPLETED');

/** Whom the provider knows the extraction by, and its request. */
const prepare = async ({ plan = {}, byConsent }: Call) => {
  if (byConsent !== true) {
    const username = await plannedUsername(plan);
    return { username, body: requestFor(username) };
  }
  const mine = await authorized(plan);
  return { username: mine.target, body: consentRequest(mine) };
};

describe.each(calls)('start-task, $what,', (call) => {
  test.for(mishapsOf(call, tries.patient))('$title: settled, and started once at most', async (mishap) => {
    const { username, body } = await prepare(call);
    const idempotencyKey = randomUUID();
    const extractionId = extractionIdForKey(idempotencyKey);
    const { operation, contains = [], skip = 0 } = call;
    const { when, times = 1, effect } = mishap;
    const during = [extractionId, '"callbackToken"'];
    const fault = await planFault({ operation, contains, during, skip, when, times, effect });

    await extract(body, { idempotencyKey });
    const expected = endOf(call, mishap);
    if (mishap.kind === 'killed' && expected === 'UNCONFIRMED') {
      // Until the dead attempt could no longer make its call, the machine's retries leave it alone.
      await inStatus(extractionId, 'STARTING');
      await eventually(() => expect(fault.wasMet()).toBe(true));
      await backdate(extractionId, 'startingAt');
    }
    const record = await closed(extractionId);
    expect(record.status).toBe(expected);
    expect((await historyOf(extractionId)).at(-1)?.type).toBe('ExecutionSucceeded');
    expect(fault.wasMet()).toBe(true);

    const taken = await takenStartsOf(username);
    expect(taken.length).toBeLessThanOrEqual(1);
    const tasks = [...(await provider.tasks({ username })), ...(await provider.polledTasks({ username }))];
    expect(tasks.length).toBeLessThanOrEqual(1);
    if (expected === 'COMPLETED') expect(tasks.map(({ taskId }) => taskId)).toEqual([record.taskId]);
  });
});
