import fc from 'fast-check';

/** Chile's modulo 11, from the left: the weights of the digits before the check digit end in …, 4, 3, 2. */
const checkDigit = (digits: string): string => {
  let sum = 0;
  for (let place = 0; place < digits.length; place += 1) {
    sum += Number(digits.at(-1 - place)) * ((place % 6) + 2);
  }
  return '0K987654321'.charAt(sum % 11);
};

/** Whether the digit at the end is right, of a text that has the form of a national id. Nobody has the number 0. */
export const hasRightCheckDigit = (nationalId: string): boolean => {
  const plain = nationalId.replaceAll('.', '').replace('-', '').toUpperCase();
  return Number(plain.slice(0, -1)) > 0 && checkDigit(plain.slice(0, -1)) === plain.at(-1);
};

const spelled = (digits: string, dots: boolean, hyphen: boolean, small: boolean): string => {
  const check = small ? checkDigit(digits).toLowerCase() : checkDigit(digits);
  const body = dots ? digits.replace(/\B(?=(\d{3})+$)/g, '.') : digits;
  return `${body}${hyphen ? '-' : ''}${check}`;
};

/** National ids with the right check digit, in every spelling. */
export const nationalId: fc.Arbitrary<string> = fc
  .tuple(fc.integer({ min: 1, max: 999_999_999 }), fc.boolean(), fc.boolean(), fc.boolean())
  .map(([number, dots, hyphen, small]) => spelled(String(number), dots, hyphen, small));
