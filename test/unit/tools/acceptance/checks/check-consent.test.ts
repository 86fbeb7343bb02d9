import { expect, test } from 'vitest';
import { longestChain } from '../../../../../tools/acceptance/checks/check-consent.ts';

test('a chain of polls ends where the sweep, and not a message, caused one', () => {
  const due = (count: number): string[] => Array(count).fill('due');
  expect(longestChain(['start', ...due(16), 'sweep', ...due(12)])).toBe(16);
  expect(longestChain([...due(3), 'sweep', ...due(20)])).toBe(20);
  expect(longestChain([])).toBe(0);
});
