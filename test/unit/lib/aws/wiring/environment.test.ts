import { afterEach, expect, test } from 'vitest';
import { MissingEnvironmentVariable, requiredVariable } from '../../../../../lib/aws/wiring/environment.ts';

afterEach(() => {
  delete process.env.COSECHA_TEST_VALUE;
});

test('a variable that is set is given', () => {
  process.env.COSECHA_TEST_VALUE = 'value';
  expect(requiredVariable('COSECHA_TEST_VALUE')).toBe('value');
});

test.each([undefined, ''])('a variable that is %j is named in the error', (value) => {
  if (value !== undefined) process.env.COSECHA_TEST_VALUE = value;
  expect(() => requiredVariable('COSECHA_TEST_VALUE')).toThrow(MissingEnvironmentVariable);
  expect(() => requiredVariable('COSECHA_TEST_VALUE')).toThrow('COSECHA_TEST_VALUE');
});
