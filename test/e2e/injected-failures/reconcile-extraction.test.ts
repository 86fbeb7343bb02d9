/** @module-tag slow */

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
import { type AwsCall, awsCalls, injectedFailures, tries } from './failures-of-aws-calls.ts';
import { planFailure, planKills } from './plan-function-faults.ts';

type Call = AwsCall & {
  readonly call: string;
  /** By consent the queue polls at once. By credentials the test ends the machine's wait for the webhook, and it polls. */
  readonly method: 'consent' | 'credentials';
  /** Only the first call of a process. */
  readonly inNewProcess?: true;
  /** The task runs until the fault has happened, so that it is polled more than once. */
  readonly polls?: true;
};

const byConsent = { method: 'consent' } as const;
const { getItem, updateItem } = awsCalls;

const settling = { ...updateItem, contains: ['":status":{"S":"COMPLETED"}'] };

const calls: readonly Call[] = [
  { call: 'reading the record', ...getItem, contains: ['{"extractionId"'], ...byConsent },
  { call: 'reading the item of the request', ...getItem, contains: ['{"requestId"'], ...byConsent },
  { call: 'reading the item of its task', ...getItem, contains: ['"taskId"'], method: 'credentials' },
  { call: 'decrypting the sealed target', ...awsCalls.decrypt, ...byConsent },
  // The machine repeats at once what fails.
  { call: 'reading the API key', ...awsCalls.readSecret, inNewProcess: true, method: 'credentials' },
  { call: 'settling the extraction', ...settling, ...byConsent },
  { call: 'storing the results', ...awsCalls.putObject, ...byConsent },
  { call: 'closing the record', ...updateItem, contains: ['":collectedAt"'], ...byConsent },
  { call: 'removing the item of the request', ...awsCalls.deleteItem, ...byConsent },
  { call: 'sending the next message', ...awsCalls.sendMessage, polls: true, ...byConsent },
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
  test.for(injectedFailures(call, tries.patient))(
    '$title: the extraction is settled, collected and closed',
    async (failure) => {
      const { username, body } = await prepare(call);
      const idempotencyKey = randomUUID();
      const extractionId = extractionIdForKey(idempotencyKey);
      const during = [extractionId, call.method === 'consent' ? '"aws:sqs"' : '"trigger":"machine"'];
      const fault = await planFailure(call, failure, during);
      const kills = call.inNewProcess && (await planKills({ ...settling, during }));
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
