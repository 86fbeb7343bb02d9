/** @module-tag slow */

import { expect, test } from 'vitest';
import { authorized, consentRequest } from './support/authorized-consents.ts';
import { backdate } from './support/backdate.ts';
import { extract, extractWith, provider, view } from './support/call-extractions.ts';
import { historyOf, transitionsIn } from './support/execution.ts';
import { closed, inStatus } from './support/records.ts';
import { forgetRequests } from './support/request-items.ts';
import { timedOut } from './support/running-extractions.ts';
import { sweepUntilClosed } from './support/sweep-until-closed.ts';

// `npm run accept` has one by credentials, which a webhook corrects.
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
