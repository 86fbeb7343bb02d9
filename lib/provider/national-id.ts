import { nationalIdPattern } from './assumptions.ts';

/**
 * Modulo 11: from the right, the weights 2 to 7 repeat. The check digit is 11 minus the remainder; 11 is 0, 10 is K.
 */
const checkDigitOf = (digits: string): string => {
  const sum = [...digits]
    .reverse()
    .reduce((total, digit, place) => total + Number(digit) * (2 + (place % 6)), 0);
  const digit = 11 - (sum % 11);
  if (digit === 11) return '0';
  return digit === 10 ? 'K' : String(digit);
};

/** Whether a text is a national id with a correct check digit. Dots and hyphen are optional ("Create OTP token"). */
export const isNationalId = (text: string): boolean => {
  const [, body, digit] = nationalIdPattern.exec(text) ?? [];
  if (body === undefined || digit === undefined) return false;
  return checkDigitOf(body.replaceAll('.', '')) === digit.toUpperCase();
};
