import { looksLikeCode } from './looks-like-code.ts';

/** A code as a word of letters, digits and underscores. What is none becomes `OTHER` as a whole. */
const wordOf = (code: string): string => (looksLikeCode(code) ? code.replace(/[.-]/g, '_') : 'OTHER');

/** `errorType`, or `errorType/errorCode`: the reason of an extraction that the provider would not do. */
export const failureReason = (failure: {
  readonly errorType: string;
  readonly errorCode?: string;
}): string =>
  failure.errorCode === undefined
    ? wordOf(failure.errorType)
    : `${wordOf(failure.errorType)}/${wordOf(failure.errorCode)}`;
