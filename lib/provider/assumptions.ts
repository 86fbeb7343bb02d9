/**
 * What the provider's document leaves open and this client had to decide, in one place. Each constant is what
 * the code uses; its comment is the reason.
 */

/**
 * A start answered with this status surely created no task. Both 429s that the document shows ("Sandbox
 * presets for POST /api/v1/tasks") are refusals before any work; rate limits are "not shown".
 */
export const notTakenStatus = 429;

/**
 * The one 4xx that, like every 5xx, may hide a created task: 408 says that the server gave up waiting, not
 * that it did nothing. "Status code for malformed or invalid request bodies: not shown": any other 4xx is
 * taken for a refusal.
 */
export const ambiguousClientStatus = 408;

/** "`sha256=<hmac-hex>`": the case of the hex is not shown, so both are taken. */
export const signaturePattern = /^sha256=([0-9a-fA-F]{64})$/;

/** `taskId` is 1..100 characters where it is polled ("Limits"); the same is assumed of a webhook's. */
export const taskIdLength = { min: 1, max: 100 } as const;
