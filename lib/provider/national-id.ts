import { nationalIdPattern } from './assumptions.ts';

/**
 * Modulo 11. From the right, the digits have the weights 2 to 7, again and again. The check digit is 11 minus the remainder, with 0 for 11
 * and K for 10.
 */
const checkDigitOf = (digits: string): string => {
  const sum = [...digits]
    .reverse()
    .reduce((total, digit, place) => total + Number(digit) * (2 + (place % 6)), 0);
  const digit = 11 - (sum % 11);
  if (digit === 11) return '0';
  return digit === 10 ? 'K' : String(digit);
};

/**
 * Normalizes a national id: without dots, hyphen, spaces and leading zeros, and with `K` for `k`. Undefined if the text is not a national
 * id, because its check digit is wrong or it has no number, as in `0-0`.
 */
export const bareNationalId = (text: string): string | undefined => {
  const bare = text.replaceAll(/[\s.\p{Pd}]/gu, '').replace('k', 'K');
  const [, digits, checkDigit] = /^0*([1-9]\d{0,8})([\dK])$/.exec(bare) ?? [];
  return digits !== undefined && checkDigitOf(digits) === checkDigit ? digits + checkDigit : undefined;
};

/** Whether a text is a national id with a correct check digit. Dots and hyphen are optional ("Create OTP token"). */
export const isNationalId = (text: string): boolean =>
  nationalIdPattern.test(text) && bareNationalId(text) !== undefined;
