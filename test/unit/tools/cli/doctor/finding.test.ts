import { expect, test } from 'vitest';
import { runCheck } from '../../../../../tools/cli/doctor/finding.ts';
import { fail } from '../../../../support/stub-client.ts';

test('a check that throws fails with the reason, so that the other checks still run', async () => {
  const denied = Object.assign(new Error('User: u is not authorized to perform: sqs:GetQueueAttributes'), {
    name: 'AccessDenied',
  });
  expect(await runCheck({ id: 'dead-letters', run: async () => fail(denied) })).toEqual({
    result: 'failed',
    message: 'dead-letters: could not be checked',
    remedy: expect.stringContaining('sqs:GetQueueAttributes'),
  });
});
