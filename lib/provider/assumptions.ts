/** Decisions about what the provider's API document does not show. The comment of each constant gives the reason. */

/**
 * After this status to a start call, surely no task exists. Both 429s that the document shows ("Sandbox presets for
 * POST /api/v1/tasks") are refusals before any work. Rate limits are "not shown".
 */
export const tooManyRequests = 429;

/**
 * The only 4xx after which a task may exist, as after every 5xx. 408 means that the server stopped waiting, not that it
 * did nothing. Any other 4xx counts as a refusal. "Status code for malformed or invalid request bodies: not shown".
 */
export const requestTimeout = 408;

/**
 * The document shows the texts of refusals only for `POST /api/v1/tasks` ("Sandbox presets for `POST /api/v1/tasks`"). It is assumed that a
 * start with one of these statuses is refused with the same texts, for a v2 task and under a consent. The text only gives the refusal a
 * name. Without such a text, the status decides. Under a consent a 403 is about the consent, so its text is not read.
 */
export const statusesWithTexts = { task: [403, 429], consent: [429] } as const;

/** "`sha256=<hmac-hex>`". The case of the hex is not shown, so both are accepted. */
export const signaturePattern = /^sha256=[0-9a-fA-F]{64}$/;

/** A polled `taskId` has 1 to 100 characters ("Limits"). The same is assumed for the webhook. */
export const taskIdLength = { min: 1, max: 100 } as const;

/**
 * A consent's id is a "string (uuid-like)". So any visible ASCII text is accepted, except one that leads to another path. Every route
 * accepts the ids that another route returns.
 */
export const consentIdPattern = /^(?!\.{1,2}$)[!-~]{1,100}$/;

/**
 * Endpoints whose method or path is "not shown". They follow the nearest documented endpoint. `Connection.endpoints`, or a setting of a
 * deployment, replaces each of them without a change of code.
 */
export const notShownEndpoints = {
  /** A GET below one consent, as "Get consent" is. */
  consentPdf: { method: 'GET', path: '/api/v1/consents/{consentId}/pdf' },
  /** "Revoke consent" has the consentId in its body, so it is a POST without the id in its path. */
  revokeConsent: { method: 'POST', path: '/api/v1/consents/revoke' },
  /** "A v2 variant of start and poll exists", and "Version is part of the path". */
  startExtractionV2: { method: 'POST', path: '/api/v2/products/retrieve-data/tasks' },
  pollExtractionV2: { method: 'GET', path: '/api/v2/products/retrieve-data/tasks/{taskId}' },
} as const;

/**
 * A poll answered with this status means that the task is in progress ("Poll extraction (v1)", "v2 consent-based extraction"). For a legacy
 * task nothing is shown, so the same status is assumed, and the same number in its `taskStatusCode`.
 */
export const inProgressStatus = 202;

/**
 * "Keep polling until HTTP 200". A 200 with JSON of any kind and size ends an extraction by consent, unless a v1 body has another
 * `taskStatus` than this one. A 200 without JSON comes from a gateway, because the provider's "bodies are JSON unless stated otherwise". It
 * counts as a failed poll.
 */
export const finishedStatus = 'success';

/**
 * A legacy task returns "`wrong_login` (code 401), `locked` (code 401), `error` (code 500)" "inside an HTTP 200 poll response". It is
 * assumed that a v1 poll under a consent reports an error in the same way: by a `taskStatusCode` of at least this one, and a status that is
 * not in progress.
 */
export const firstErrorCode = 400;

/**
 * If a poll of an extraction by consent returns one of these statuses, or any 5xx, it does not report how the extraction ended, whatever
 * its body contains. "Every other outcome is HTTP 4xx/5xx with a body discriminated by `errorType`" does not distinguish an answer about
 * the extraction from one about this poll. In doubt the poll is repeated, because a wrong `FAILED` is never corrected, but a wrong
 * `TIMED_OUT` is.
 *
 * - 401 is about the Bearer token ("Authentication", rule 3).
 * - 403 is about the caller in both examples of the document: no permission, or none for the moment.
 * - 404 can be about the taskId, which "expires after a limited time".
 * - 408, 425 and 429 mean that this call was not carried out. A 5xx can come from a gateway.
 *
 * Any other 4xx with an `errorType` ends the extraction, because the document shows no other way to report it.
 */
export const statusesOfPoll: readonly number[] = [401, 403, 404, 408, 425, 429];

/**
 * A login is assumed to end no other session, because the document shows only its validity, "set by `expire`". So every process logs in for
 * itself (`cacheSessionTokens`). A provider that keeps one session for each client would end the session of one process when another logs
 * in. Most starts would then need their own login. So an alarm starts if many session tokens are refused in each of two quarters of an
 * hour. If all sessions end at once, each process is refused only once.
 */
export const refusedSessions = 20;

/** v1 has "in progress: `pending` or `running`". The same is assumed for a legacy task. */
export const inProgressStatuses: readonly string[] = ['pending', 'running'];

/**
 * "`username` national id; may include or omit dots and hyphen, must include the check digit". The country is not
 * shown. The document's locale is `es-CL`, so the Chilean RUT is assumed: 1 to 9 digits and a check digit, 0 to 9 or K.
 */
export const nationalIdPattern = /^(\d{1,3}(?:\.\d{3}){0,2}|\d{1,9})-?([\dkK])$/;

/**
 * The fields of raw credentials that name the user. The document shows `username`, `password` "and for business banking
 * `businessId`", and no other field. So any other one, such as a one-time code, may differ each time that a password is sent.
 */
export const userFields = ['username', 'businessId'] as const;
