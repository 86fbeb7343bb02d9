/** Longer than any code; what is longer is a text. */
const longestCode = 64;

/** A national id has at least six digits and a code, such as `E1042`, a few: what has more is not kept. */
const mostDigits = 4;

/**
 * Whether a text of the provider's looks like one of its codes, whose values are "not shown" or may grow: a letter, then
 * letters, digits, `_`, `-` and `.`. Anything else, a sentence above all, may hold personal data: it is not recorded.
 */
export const looksLikeCode = (text: string): boolean =>
  /^[A-Za-z][\w.-]*$/.test(text) &&
  text.length <= longestCode &&
  text.replace(/\D/g, '').length <= mostDigits;
