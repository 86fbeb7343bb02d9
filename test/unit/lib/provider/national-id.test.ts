import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isNationalId } from '#lib/provider/index.ts';
import { bareNationalId } from '#lib/provider/national-id.ts';

test('a national id has a right check digit, with or without dots and hyphen', () => {
  expect(['11.111.111-1', '11111111-1', '111111111'].map(isNationalId)).toEqual([true, true, true]);
  expect(['11.111.111-2', 'ana', ''].map(isNationalId)).toEqual([false, false, false]);
});

test.each([
  ['dots in some places only', '11.111111-1'],
  ['a space before it', ' 11111111-1'],
  ['a line break after it', '11111111-1\n'],
  ['ten digits', '1111111111-1'],
  ['digits of another script', '١١١١١١١١-1'],
  ['no number', '0-0'],
  ['zeros for a number', '00.000.000-0'],
])('one with %s is none', (_what, id) => {
  expect(isNationalId(id)).toBe(false);
});

const formats = (digits: string, check: string) => {
  const dotted = digits.replace(/\B(?=(\d{3})+$)/g, '.');
  return [`${dotted}-${check}`, `${digits}-${check}`, `${digits}${check}`, `${dotted}${check}`];
};

test('every number has exactly one check digit, whatever the format', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 99_999_999 }), (number) => {
      const valid = [...'0123456789K'].filter((check) => isNationalId(`${number}-${check}`));
      expect(valid).toHaveLength(1);
      for (const id of formats(String(number), valid[0] ?? '')) expect(isNationalId(id)).toBe(true);
    }),
  );
});

test('an id has one form, however a person writes it', () => {
  const written = ['9.007.928-K', '9007928-k', ' 9 007 928 k', '09.007.928‑K', '9007928K'];
  expect(written.map(bareNationalId)).toEqual(written.map(() => '9007928K'));
  expect(['9.007.928-1', 'ana', '0-0', ''].map(bareNationalId)).toEqual(Array(4).fill(undefined));
});
