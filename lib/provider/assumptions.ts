/**
 * What the provider's document leaves open and this client had to decide, in one place. Each constant is what
 * the code uses; its comment is the reason.
 */

/**
 * A start answered with this status surely created no task. Both 429s that the document shows ("Sandbox
 * presets for POST /api/v1/tasks") are refusals before any work; rate limits are "not shown".
 */
export const notAcceptedStatus = 429;

/**
 * The one 4xx that, like every 5xx, may hide a created task: 408 says that the server gave up waiting, not
 * that it did nothing. "Status code for malformed or invalid request bodies: not shown": any other 4xx is
 * taken for a refusal.
 */
export const ambiguousClientStatus = 408;

/** "`sha256=<hmac-hex>`": the case of the hex is not shown, so both are taken. */
export const signaturePattern = /^sha256=[0-9a-fA-F]{64}$/;

/** `taskId` is 1..100 characters where it is polled ("Limits"); the same is assumed of a webhook's. */
export const taskIdLength = { min: 1, max: 100 } as const;

/**
 * Endpoints whose method or path the document calls "not shown": the form of their nearest neighbours in it.
 * `Connection.endpoints` replaces any of them, without a change of code.
 */
export const notShownEndpoints = {
  /** "Consent PDF" is a GET of something that hangs on one consent, as "Get consent" is. */
  consentPdf: { method: 'GET', path: '/api/v1/consents/{consentId}/pdf' },
  /** "Revoke consent" has its consentId in the body, so that it is no part of the path; a body is POSTed. */
  revokeConsent: { method: 'POST', path: '/api/v1/consents/revoke' },
  /** "A v2 variant of start and poll exists", and "Version is part of the path". */
  startExtractionV2: { method: 'POST', path: '/api/v2/products/retrieve-data/tasks' },
  pollExtractionV2: { method: 'GET', path: '/api/v2/products/retrieve-data/tasks/{taskId}' },
} as const;

/**
 * A poll answered with this status is of a task in progress ("Poll extraction (v1)", "v2 consent-based
 * extraction"). How a legacy task looks while in progress is not shown; it is taken to be the same, and the
 * same number in its `taskStatusCode` counts too.
 */
export const inProgressStatus = 202;

/**
 * "Keep polling until HTTP 200": an extraction by consent has ended with a 200, whatever the form of its JSON and
 * however large it is, unless a v1 body names another status than this one. A 200 that is no JSON is not the
 * provider's ("bodies are JSON unless stated otherwise"), but a gateway's page: a poll that did not happen.
 */
export const finishedStatus = 'success';

/**
 * A poll of an extraction by consent that is answered with one of these, or with any 5xx, says nothing of how the
 * extraction ended, whatever its body says. "Every other outcome is HTTP 4xx/5xx with a body discriminated by
 * `errorType`" does not say which answer is of the extraction and which of this one poll. In doubt the poll is
 * repeated: `FAILED` is never corrected, and the `TIMED_OUT` of an extraction that is polled in vain is.
 *
 * - 401 is the Bearer's ("Authentication", rule 3).
 * - 403 is the caller's in both of the document's examples: no permission, or none for the moment.
 * - 404 can be the taskId's, which "expires after a limited time".
 * - 408, 425 and 429 say that this call was not carried out; a 5xx can be a gateway's.
 *
 * Any other 4xx with an `errorType` is the end: it is the one way that the document leaves to say so.
 */
export const statusesOfPoll: readonly number[] = [401, 403, 404, 408, 425, 429];

/** v1 says "in progress: `pending` or `running`"; a legacy task of that status is taken to be in progress too. */
export const inProgressStatuses: readonly string[] = ['pending', 'running'];

/**
 * "`username` national id; may include or omit dots and hyphen, must include the check digit". The document does
 * not say of which country; its locale is `es-CL`, so it is the Chilean RUT: 1 to 9 digits, then the digit of
 * modulo 11 or a K.
 */
export const nationalIdPattern = /^(\d{1,3}(?:\.\d{3}){0,2}|\d{1,9})-?([\dkK])$/;
