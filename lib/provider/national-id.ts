import { nationalIdPattern } from './assumptions.ts';

/** Modulo 11: the digits from the right, weighted 2 to 7 over and over; 11 less the sum's rest, 10 being K. */
const checkDigitOf = (digits: string): string => {
  const sum = [...digits]
    .reverse()
    .reduce((total, digit, place) => total + Number(digit) * (2 + (place % 6)), 0);
  const digit = 11 - (sum % 11);
  if (digit === 11) return '0';
  return digit === 10 ? 'K' : String(digit);
};

/** Whether it is a national id with the right check digit, with or without dots and hyphen ("Create OTP token"). */
export const isNationalId = (text: string): boolean => {
  const [, body, digit] = nationalIdPattern.exec(text) ?? [];
  if (body === undefined || digit === undefined) return false;
  return checkDigitOf(body.replaceAll('.', '')) === digit.toUpperCase();
};
