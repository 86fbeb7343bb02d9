/** Longer than any code; what is longer is a text. */
const longestWord = 64;

/** A national id has at least six digits and a code, such as `E1042`, a few: what has more is not kept. */
const mostDigits = 4;

/**
 * One of the provider's codes, whose values are "not shown", as a word: letters, digits and underscores. What is
 * none, a sentence above all, may hold anything, and becomes `OTHER` as a whole.
 */
const wordOf = (code: string): string => {
  const isWord = /^[A-Za-z][\w.-]*$/.test(code) && code.length <= longestWord;
  const digits = code.replace(/\D/g, '').length;
  return isWord && digits <= mostDigits ? code.replace(/[.-]/g, '_') : 'OTHER';
};

/** `errorType`, or `errorType/errorCode`: the reason of an extraction that the provider would not do. */
export const failureReason = (failure: {
  readonly errorType: string;
  readonly errorCode?: string;
}): string =>
  failure.errorCode === undefined
    ? wordOf(failure.errorType)
    : `${wordOf(failure.errorType)}/${wordOf(failure.errorCode)}`;
