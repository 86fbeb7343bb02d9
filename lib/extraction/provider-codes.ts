/** In characters. No known code is longer. */
const longestCode = 64;

/** A national id has at least six digits, and a code such as `E1042` has fewer. */
const mostDigits = 4;

/**
 * Whether a text of the provider looks like one of its codes: a letter, then letters, digits, `_`, `-` and `.`. The API
 * document lists no complete set of codes. Any other text may contain personal data and must not be recorded.
 */
export const looksLikeCode = (text: string): boolean =>
  /^[A-Za-z][\w.-]*$/.test(text) &&
  text.length <= longestCode &&
  text.replace(/\D/g, '').length <= mostDigits;

/** A code in letters, digits and underscores. A text that is not a code becomes `OTHER`. */
const normalized = (code: string): string => (looksLikeCode(code) ? code.replace(/[.-]/g, '_') : 'OTHER');

/** The `reason` of an extraction that the provider refused or failed: `errorType` or `errorType/errorCode`. */
export const failureReason = (failure: {
  readonly errorType: string;
  readonly errorCode?: string;
}): string =>
  failure.errorCode === undefined
    ? normalized(failure.errorType)
    : `${normalized(failure.errorType)}/${normalized(failure.errorCode)}`;
