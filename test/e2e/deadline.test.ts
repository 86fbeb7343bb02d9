/** @module-tag slow */

import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { awsCalls, injectedFailures, tries } from './injected-failures/failures-of-aws-calls.ts';
import { planFailure } from './injected-failures/plan-function-faults.ts';
import { authorized, consentRequest } from './support/authorized-consents.ts';
import { backdate } from './support/backdate.ts';
import {
  extract,
  extractionIdForKey,
  extractWith,
  plannedUsername,
  provider,
  requestFor,
  view,
} from './support/call-extractions.ts';
import { historyOf, transitionsIn } from './support/execution.ts';
import { closed, inStatus, statusesOf } from './support/records.ts';
import { forgetRequests } from './support/request-items.ts';
import { timedOut } from './support/running-extractions.ts';
import { sweepUntilClosed } from './support/sweep-until-closed.ts';

test('an extraction past its deadline is TIMED_OUT, and a later webhook corrects it and is collected', async () => {
  const { extractionId } = await extractWith({ durationMs: null });
  const record = await timedOut(extractionId);
  expect(record).toMatchObject({ settledBy: 'reconcile', reason: 'deadline-passed' });
  expect((await historyOf(extractionId)).at(-1)?.type).toBe('ExecutionSucceeded');

  // The task still runs, so that only the delivery has a final status. Once it is in `Tasks`, a read in grace may find it there and
  // write it before the webhook does.
  await provider.deliverTask(record.taskId ?? '', { statusOverride: 'COMPLETED' });
  const late = await inStatus(extractionId, 'COMPLETED');
  expect(late.reason).toBeUndefined();
  await provider.finish(record.taskId ?? '', 'COMPLETED');
  expect(await sweepUntilClosed(extractionId)).toMatchObject({ status: 'COMPLETED' });
  expect((await view(extractionId)).results?.bytes).toBeGreaterThan(0);
  expect(statusesOf(extractionId)).toEqual(['REQUESTED', 'STARTING', 'RUNNING', 'TIMED_OUT', 'COMPLETED']);
});

test.for(['v1', 'v2'] as const)(
  'an extraction by consent in %s past its deadline is TIMED_OUT, and a read in grace corrects it',
  async (variant) => {
    const user = await authorized({ durationMs: null });
    const extractionId = await extract(consentRequest(user, { variant }));
    const record = await timedOut(extractionId);
    expect(record).toMatchObject({ settledBy: 'reconcile', reason: 'deadline-passed' });
    const history = await historyOf(extractionId);
    expect(history.at(-1)?.type).toBe('ExecutionSucceeded');
    expect(transitionsIn(history)).toBe(1);

    await provider.finishPolled(record.taskId ?? '');
    expect(await sweepUntilClosed(extractionId)).toMatchObject({ status: 'COMPLETED' });
    expect((await view(extractionId)).results?.bytes).toBeGreaterThan(0);
  },
);

describe('reconcile-extraction, writing TIMED_OUT', () => {
  const call = { ...awsCalls.updateItem, contains: ['":status":{"S":"TIMED_OUT"}'] };

  test.for(injectedFailures(call, tries.patient))(
    '$title: the extraction is TIMED_OUT once, and is still corrected',
    async (failure) => {
      const username = await plannedUsername({ durationMs: null });
      const idempotencyKey = randomUUID();
      const extractionId = extractionIdForKey(idempotencyKey);
      const fault = await planFailure(call, failure, [extractionId, '"trigger":"machine"']);
      await extract(requestFor(username), { idempotencyKey });

      const { taskId = '' } = await timedOut(extractionId);
      // The machine retries its failed function. After it has ended, only the sweep reconciles.
      expect((await historyOf(extractionId)).at(-1)?.type).toBe('ExecutionSucceeded');
      expect(fault.wasInjected()).toBe(true);
      await provider.finish(taskId, 'PARTIAL');
      expect(await sweepUntilClosed(extractionId)).toMatchObject({ status: 'PARTIAL' });
      expect(statusesOf(extractionId).slice(-3)).toEqual(['RUNNING', 'TIMED_OUT', 'PARTIAL']);
    },
  );
});

test.for([
  ['is NOT_STARTED', 'start-window-over', async () => {}],
  ['whose request is lost says so', 'request-data-gone', forgetRequests],
] as const)('a start that is answered 429 until the start window ends %s', async ([, reason, lose]) => {
  const { username, extractionId } = await extractWith({ startForever: { kind: 'answer', status: 429 } });
  await inStatus(extractionId, 'STARTING');
  await lose(extractionId);
  await backdate(extractionId, 'requestedAt');

  expect(await closed(extractionId)).toMatchObject({ status: 'NOT_STARTED', reason });
  expect(await provider.tasks({ username })).toHaveLength(0);
});
