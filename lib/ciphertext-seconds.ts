/**
 * The longest time, in seconds, in which encrypted credentials can be used: "temporary encryption keyed by the session token, valid at most
 * 60 minutes". A caller encrypts before it sends its request.
 */
export const ciphertextSeconds = 3_600;
