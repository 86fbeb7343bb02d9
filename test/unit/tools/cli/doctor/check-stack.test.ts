import { expect, test } from 'vitest';
import { checkStack } from '../../../../../tools/cli/doctor/check-stack.ts';

test.each([
  ['UPDATE_COMPLETE', 'passed'],
  ['UPDATE_ROLLBACK_COMPLETE', 'failed'],
  ['UPDATE_IN_PROGRESS', 'skipped'],
])('a stack in %s is %s', (status, result) => {
  expect(checkStack('S', status).result).toBe(result);
});
