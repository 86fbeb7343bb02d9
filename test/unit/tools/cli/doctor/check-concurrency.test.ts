import type { LambdaClient } from '@aws-sdk/client-lambda';
import { expect, test } from 'vitest';
import { checkConcurrency } from '../../../../../tools/cli/doctor/check-concurrency.ts';
import { stubClient } from '../../../../support/stub-client.ts';

const check = (ConcurrentExecutions: number, reconcileConcurrency = 50) =>
  checkConcurrency(
    stubClient<LambdaClient>(() => ({ AccountLimit: { ConcurrentExecutions } })).client,
    reconcileConcurrency,
  );

test('the quota has to bear a full queue and 50 more', async () => {
  expect(await check(100)).toEqual({ result: 'passed', message: 'account may run 100 functions at once' });
  expect((await check(99)).result).toBe('failed');
  expect((await check(1_000, 951)).result).toBe('failed');
});

test('the quota of a new account fails, with the command that has it raised', async () => {
  expect(await check(10)).toMatchObject({
    result: 'failed',
    message: expect.stringContaining('may run 10 functions at once, where 100 are needed'),
    remedy: expect.stringContaining('aws service-quotas request-service-quota-increase'),
  });
});
