import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isNationalId } from '../../../../lib/provider/index.ts';

test.each([
  ['dots in some places only', '11.111111-1'],
  ['a space before it', ' 11111111-1'],
  ['a line break after it', '11111111-1\n'],
  ['ten digits', '1111111111-1'],
  ['digits of another script', '١١١١١١١١-1'],
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
