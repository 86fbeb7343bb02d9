import { expect, test } from 'vitest';
import { describeEnd } from '../../../../../tools/cli/commands/watch.ts';

test.each([
  ['ended', 'COMPLETED', 0, undefined],
  ['ended', 'PARTIAL', 3, undefined],
  ['ended', 'TIMED_OUT', 3, undefined],
  ['timed-out', 'RUNNING', 4, 'Still RUNNING after 1 min 30 s.'],
  ['interrupted', 'RUNNING', 130, 'Stopped watching.'],
] as const)('%s as %s exits %d', (kind, status, code, hint) => {
  const end = describeEnd({ kind, status }, { timeout: 90 });
  expect([end.code, end.hint]).toEqual([code, hint]);
});
