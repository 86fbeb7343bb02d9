import { expect, test } from 'vitest';
import { samples, taskTokenCharacters } from '../../../bench/assumptions.ts';
import { asOnAws } from '../../../bench/units/as-on-aws.ts';

test('a task token is as long as one of AWS, and what we make ourselves stays', () => {
  expect(asOnAws({ callbackToken: { S: 'short' }, taskId: { S: '1' } })).toEqual({
    callbackToken: { S: 't'.repeat(taskTokenCharacters) },
    taskId: { S: '1' },
  });
});

test('a caller is a role, where the emulator has its root', () => {
  expect(asOnAws({ requestedBy: { S: 'arn:aws:iam::000000000000:root' } })).toEqual({
    requestedBy: { S: samples.requestedBy },
  });
});

test('an item without them gets none', () =>
  expect(asOnAws({ taskId: { S: '1' } })).toEqual({ taskId: { S: '1' } }));
