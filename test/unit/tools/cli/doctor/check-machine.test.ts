import type { SFNClient } from '@aws-sdk/client-sfn';
import { expect, test } from 'vitest';
import { checkMachine } from '../../../../../tools/cli/doctor/check-machine.ts';
import { at } from '../../../../support/extraction-fixtures.ts';
import { stubClient } from '../../../../support/stub-client.ts';

const check = (status: string, failedAt: readonly Date[] = []) =>
  checkMachine(
    stubClient<SFNClient>(({ constructor: { name }, input }) =>
      name === 'DescribeStateMachineCommand'
        ? { status }
        : { executions: input.statusFilter === 'FAILED' ? failedAt.map((stopDate) => ({ stopDate })) : [] },
    ).client,
    'arn',
    at(10_000),
  );

test('an ACTIVE machine passes, with the number of executions that broke within a day', async () => {
  expect(await check('ACTIVE')).toEqual({
    result: 'passed',
    message: 'machine is ACTIVE, and no execution broke within a day',
  });
  const message = 'machine is ACTIVE; 1 execution broke within a day, which the sweep queues';
  expect(await check('ACTIVE', [at(9_000), at(-100_000)])).toEqual({ result: 'passed', message });
});

test('a machine that is being deleted fails', async () => {
  expect(await check('DELETING')).toMatchObject({ result: 'failed', message: 'machine is DELETING' });
});
