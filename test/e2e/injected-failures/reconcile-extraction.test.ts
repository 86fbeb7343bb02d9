import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { authorized, consentRequest } from '../support/authorized-consents.ts';
import { reportBrokenExecution } from '../support/broken-execution.ts';
import {
  extract,
  extractionIdForKey,
  plannedUsername,
  possiblyAcceptedStartsOf,
  provider,
  requestFor,
  view,
} from '../support/call-extractions.ts';
import { historyOf } from '../support/execution.ts';
import { inStatus } from '../support/records.ts';
import { requestsOf } from '../support/request-items.ts';
import { endWebhookWait } from '../support/running-extractions.ts';
import { sweepUntilClosed } from '../support/sweep-until-closed.ts';
import { injectedFailures, type Service, tries } from './injected-failures.ts';
import { planFault, planKills } from './plan-function-faults.ts';

type Call = {
  readonly call: string;
  readonly service: Service;
  readonly operation: string;
  readonly contains?: readonly string[];
  readonly writes: boolean;
  /** How often the client tries the call. Default as a patient one. */
  readonly attempts?: number;
  /** By consent the queue polls at once. By credentials the test ends the machine's wait for the webhook, and it polls. */
  readonly method: 'consent' | 'credentials';
  /** Only the first call of a process. */
  readonly inNewProcess?: true;
  /** The task runs until the fault has happened, so that it is polled more than once. */
  readonly polls?: true;
};

const byConsent = { method: 'consent' } as const;
const read = { service: 'dynamodb', operation: 'DynamoDB_20120810.GetItem', writes: false } as const;
const update = { service: 'dynamodb', operation: 'DynamoDB_20120810.UpdateItem', writes: true } as const;

const settlesExtraction = ['":status":{"S":"COMPLETED"}'];

const calls: readonly Call[] = [
  { call: 'reading the record', ...read, contains: ['{"extractionId"'], ...byConsent },
  { call: 'reading the item of the request', ...read, contains: ['{"requestId"'], ...byConsent },
  { call: 'reading the item of its task', ...read, contains: ['"taskId"'], method: 'credentials' },
  {
    call: 'decrypting the sealed target',
    service: 'kms',
    operation: 'TrentService.Decrypt',
    writes: false,
    ...byConsent,
  },
  {
    call: 'reading the API key',
    service: 'secretsManager',
    operation: 'secretsmanager.GetSecretValue',
    writes: false,
    inNewProcess: true,
    // The machine repeats at once what fails.
    method: 'credentials',
  },
  { call: 'settling the extraction', ...update, contains: settlesExtraction, ...byConsent },
  { call: 'storing the results', service: 's3', operation: 'PUT /', writes: true, ...byConsent },
  { call: 'closing the record', ...update, contains: ['":collectedAt"'], ...byConsent },
  {
    call: 'removing the item of the request',
    service: 'dynamodb',
    operation: 'DynamoDB_20120810.DeleteItem',
    writes: true,
    attempts: tries.removing,
    ...byConsent,
  },
  {
    call: 'sending the next message',
    service: 'sqs',
    operation: 'AmazonSQS.SendMessage',
    writes: true,
    method: 'consent',
    polls: true,
  },
];

const prepare = async ({ method, polls }: Call) => {
  if (method === 'credentials') {
    const username = await plannedUsername({ webhook: { enabled: false } });
    return { username, body: requestFor(username) };
  }
  const user = await authorized(polls === true ? { durationMs: null } : {});
  return { username: user.target, body: consentRequest(user) };
};

describe.each(calls)('reconcile-extraction, $call', (call) => {
  test.for(injectedFailures(call, call.attempts ?? tries.patient))(
    '$title: the extraction is settled, collected and closed',
    async ({ when, times = 1, effect }) => {
      const { username, body } = await prepare(call);
      const idempotencyKey = randomUUID();
      const extractionId = extractionIdForKey(idempotencyKey);
      const { operation, contains = [] } = call;
      const during = [extractionId, call.method === 'consent' ? '"aws:sqs"' : '"trigger":"machine"'];
      const fault = await planFault({ operation, contains, during, when, times, effect });
      const settles = { operation: update.operation, contains: settlesExtraction, during };
      const kills = call.inNewProcess && (await planKills(settles));
      await extract(body, { idempotencyKey });
      if (call.method === 'credentials') await endWebhookWait(extractionId);

      await eventually(() => expect(fault.wasInjected()).toBe(true));
      await kills?.cancel();
      if (call.polls === true) {
        const { taskId = '' } = await inStatus(extractionId, 'RUNNING');
        await provider.finishPolled(taskId);
      }
      await historyOf(extractionId);
      // The machine repeats what fails at once. A message would be received again minutes later.
      const record = await sweepUntilClosed(extractionId);
      expect(record).toMatchObject({ status: 'COMPLETED', settledBy: 'reconcile' });
      const { results } = await view(extractionId);
      const stored = await fetch(results?.url ?? '');
      expect([stored.status, (await stored.bytes()).length]).toEqual([200, record.results?.bytes]);
      expect(await possiblyAcceptedStartsOf(username)).toHaveLength(1);
      // As the message of a process that was killed, which is received again minutes later.
      await reportBrokenExecution(extractionId);
      await eventually(async () => expect(await requestsOf(extractionId)).toEqual([]));
    },
  );
});
