import { expect, test } from 'vitest';
import { median } from '../../../bench/load/median.ts';

test('is the middle value, in whatever order they come', () => expect(median([9, 1, 5])).toBe(5));
test('is the mean of the two in the middle of an even number', () => expect(median([10, 1, 2, 4])).toBe(3));
test('is none where there are no values', () => expect(() => median([])).toThrow(RangeError));
