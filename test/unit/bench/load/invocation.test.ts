import { expect, test } from 'vitest';
import { parseInvocations } from '../../../bench/load/invocation.ts';

const one = { functionName: 'start-task', cold: true, beganAt: 1, wallMs: 2, cpuMs: 3, calls: [] };

test('reads a line for each invocation', () => {
  expect(parseInvocations(`${JSON.stringify(one)}\n${JSON.stringify({ ...one, cold: false })}\n`)).toEqual([
    one,
    { ...one, cold: false },
  ]);
});

test('leaves a line that is still being written for the next time', () => {
  expect(parseInvocations(`${JSON.stringify(one)}\n{"functionName":"sta`)).toEqual([one]);
  expect(parseInvocations('{"functionName"')).toEqual([]);
});
