import { randomInt } from 'node:crypto';
import * as v from 'valibot';

/**
 * Normalizes a national id to `11111111-1`. Undefined if the text is none, or its check digit is wrong. It "may include or
 * omit dots and hyphen, must include the check digit" ("Create OTP token").
 */
const nationalIdFrom = (text: string): string | undefined => {
  const [, number = '', digit = ''] = /^(\d{1,3}(?:\.\d{3})*|\d+)-?([\dkK])$/.exec(text) ?? [];
  const digits = number.replaceAll('.', '');
  if (digits.length === 0 || digits.length > 9) return undefined;
  return digit.toUpperCase() === checkDigitOf(digits) ? `${digits}-${digit.toUpperCase()}` : undefined;
};

/** A national id in any form, normalized to `11111111-1`. */
export const NationalIdSchema = v.pipe(
  v.string(),
  v.check((text) => nationalIdFrom(text) !== undefined),
  v.transform((text) => nationalIdFrom(text) ?? text),
);

/** A random one, or that of a number, as `12345678-5`. */
export const newNationalId = (number = randomInt(10_000_000, 100_000_000)): string => {
  const digits = String(number);
  return `${digits}-${checkDigitOf(digits)}`;
};

/** `11.111.111-1` for `11111111-1`. */
export const withDots = (nationalId: string): string => {
  const [digits = '', digit = ''] = nationalId.split('-');
  return `${digits.replace(/\B(?=(\d{3})+$)/g, '.')}-${digit}`;
};

/** Modulo 11 over the digits from the right, with the weights 2, 3, …, 7, 2, … The digit for 11 is 0, for 10 it is K. */
export const checkDigitOf = (digits: string): string => {
  const sum = [...digits].reverse().reduce((total, digit, at) => total + Number(digit) * (2 + (at % 6)), 0);
  return '0K987654321'.charAt(sum % 11);
};
