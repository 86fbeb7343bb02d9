import { afterEach, expect, test } from 'vitest';
import { EnvironmentIncomplete, required } from '../../../../lib/aws/environment.ts';

afterEach(() => {
  delete process.env.COSECHA_TEST_VALUE;
});

test('a variable that is set is given', () => {
  process.env.COSECHA_TEST_VALUE = 'value';
  expect(required('COSECHA_TEST_VALUE')).toBe('value');
});

test.each([undefined, ''])('a variable that is %j is named in the error', (value) => {
  if (value !== undefined) process.env.COSECHA_TEST_VALUE = value;
  expect(() => required('COSECHA_TEST_VALUE')).toThrow(EnvironmentIncomplete);
  expect(() => required('COSECHA_TEST_VALUE')).toThrow('COSECHA_TEST_VALUE');
});
