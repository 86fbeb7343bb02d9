/**
 * A national id as one form of it, `11111111-1`, or undefined where it is none. On the wire it "may include or
 * omit dots and hyphen, must include the check digit" ("Create OTP token"); a wrong check digit is no id.
 */
export const nationalIdFrom = (text: string): string | undefined => {
  const [, number = '', digit = ''] = /^(\d{1,3}(?:\.\d{3})*|\d+)-?([\dkK])$/.exec(text) ?? [];
  const digits = number.replaceAll('.', '');
  if (digits.length === 0 || digits.length > 9) return undefined;
  return digit.toUpperCase() === checkDigitOf(digits) ? `${digits}-${digit.toUpperCase()}` : undefined;
};

/** `11.111.111-1`, of `11111111-1`. */
export const withDots = (nationalId: string): string => {
  const [digits = '', digit = ''] = nationalId.split('-');
  return `${digits.replace(/\B(?=(\d{3})+$)/g, '.')}-${digit}`;
};

/** Modulo 11 over the digits from the right, weighed 2, 3, …, 7, 2, …; 11 is written 0, and 10 is written K. */
const checkDigitOf = (digits: string): string => {
  const sum = [...digits]
    .reverse()
    .reduce((total, digit, index) => total + Number(digit) * (2 + (index % 6)), 0);
  const rest = 11 - (sum % 11);
  if (rest === 11) return '0';
  return rest === 10 ? 'K' : String(rest);
};
