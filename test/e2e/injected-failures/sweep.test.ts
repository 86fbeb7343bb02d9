/** @module-tag slow */

import { describe, expect, test } from 'vitest';
import { dueShardOf } from '../../../lib/extraction/deadlines.ts';
import { eventually } from '../../support/eventually.ts';
import { authorized, consentRequest } from '../support/authorized-consents.ts';
import { moveTimes } from '../support/backdate.ts';
import { reportBrokenExecution } from '../support/broken-execution.ts';
import { extract, provider } from '../support/call-extractions.ts';
import { inStatus } from '../support/records.ts';
import { forgetRequests } from '../support/request-items.ts';
import { quietlyRunning, timedOut } from '../support/running-extractions.ts';
import { sweepUntilClosed } from '../support/sweep-until-closed.ts';
import { awsCalls, injectedFailures, tries } from './failures-of-aws-calls.ts';
import { planFailure } from './plan-function-faults.ts';

const { getItem, updateItem, query, sendBatch } = awsCalls;

/** Longer than graceSeconds, a day. */
const twoDaysMs = 2 * 86_400_000;

const sweptToTheEnd = async (extractionId: string): Promise<void> =>
  expect(await sweepUntilClosed(extractionId)).toMatchObject({
    status: 'COMPLETED',
    settledBy: 'reconcile',
  });

describe.each([
  { call: 'reading the record', ...getItem },
  { call: 'deferring the record', ...updateItem, contains: ['":dueAt"'] },
])('the message of the rule for broken executions, $call', (call) => {
  test.for(injectedFailures(call, tries.patient))(
    '$title: the sweep closes the extraction',
    async (failure) => {
      const { extractionId, taskId } = await quietlyRunning();
      const fault = await planFailure(call, failure, [extractionId, 'execution-broken']);

      await reportBrokenExecution(extractionId);
      await eventually(() => expect(fault.wasInjected()).toBe(true));
      await provider.finish(taskId, 'COMPLETED');
      await sweptToTheEnd(extractionId);
    },
  );
});

describe.each([
  {
    call: 'querying what is due',
    ...query,
    about: (id: string) => [`":shard":{"N":"${dueShardOf(id)}"}`],
  },
  { call: 'leasing the record', ...updateItem, about: (id: string) => [id, '":dueAt"'] },
  { call: 'sending the batch', ...sendBatch, about: (id: string) => [id] },
])('the sweep, $call', ({ about, ...call }) => {
  test.for(injectedFailures(call, tries.patient))(
    '$title: another sweep closes the extraction',
    async (failure) => {
      const { extractionId, taskId } = await quietlyRunning();
      await provider.finish(taskId, 'COMPLETED');
      const during = [extractionId, '"trigger":"sweep"'];
      const fault = await planFailure({ ...call, contains: about(extractionId) }, failure, during);

      await sweptToTheEnd(extractionId);
      expect(fault.wasInjected()).toBe(true);
    },
  );
});

test('an extraction by consent whose request is lost is polled no more, and closes after its grace', async () => {
  const extractionId = await extract(consentRequest(await authorized({ durationMs: null })));
  await inStatus(extractionId, 'RUNNING');
  await forgetRequests(extractionId);
  await timedOut(extractionId);
  await moveTimes(extractionId, { settledAt: new Date(Date.now() - twoDaysMs).toISOString() });
  expect(await sweepUntilClosed(extractionId)).toMatchObject({
    status: 'TIMED_OUT',
    collectionError: 'request-data-gone',
  });
});
