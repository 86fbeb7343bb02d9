import { looksLikeCode } from './looks-like-code.ts';

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
