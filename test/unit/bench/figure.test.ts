import { expect, test } from 'vitest';
import { figure } from '../../bench/figure.ts';

test('figures have two places, or one from 100 on', () => {
  expect([2, 2.345, 0.4, 234.56].map(figure)).toEqual(['2', '2.35', '0.40', '234.6']);
});

test('a whole number that was added up from fractions has none', () => {
  expect(figure(0.1 + 0.2 - 0.3)).toBe('0');
  expect(figure((0.1 + 0.2) * 10)).toBe('3');
});
