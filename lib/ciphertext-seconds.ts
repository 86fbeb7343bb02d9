/**
 * In seconds: "temporary encryption keyed by the session token, valid at most 60 minutes". A caller has encrypted before its
 * request.
 */
export const ciphertextSeconds = 3_600;
