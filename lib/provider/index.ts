/**
 * The published client for the provider's API. It works without the rest of this repository and without AWS
 * (docs/provider-client.md). No function imports it.
 */
export {
  createProviderClient,
  type LegacyTaskInput,
  type ProviderClient,
  type ProviderClientOptions,
} from './client.ts';
export type { Consent } from './consents/get-consent.ts';
export { getConsent } from './consents/get-consent.ts';
export { type ConsentPdf, getConsentPdf } from './consents/get-consent-pdf.ts';
export {
  type ConsentPage,
  type ConsentQuery,
  iterateConsents,
  listConsents,
} from './consents/list-consents.ts';
export { type RevokedConsent, revokeConsent } from './consents/revoke-consent.ts';
export { decryptCredentials, encryptCredentials, UndecryptableText } from './encrypt-and-decrypt.ts';
export {
  type ExtractionReading,
  type ExtractionReadingV2,
  pollExtraction,
  pollExtractionV2,
  waitForExtraction,
  waitForExtractionV2,
} from './extractions/poll-extraction.ts';
export {
  isMovementItem,
  isTefRecipient,
  type MovementItem,
  type TefRecipient,
} from './extractions/product-item-guards.ts';
export { type RetrievedData, retrieveData } from './extractions/retrieve-data.ts';
export type { StartExtractionRequest } from './extractions/start-extraction.ts';
export { startExtraction, startExtractionV2 } from './extractions/start-extraction.ts';
export {
  type Entity,
  getUserStatus,
  type LegacyTaskReading,
  type LegacyTaskRequest,
  type LegacyTaskResults,
  listEntities,
  pollLegacyTask,
  startLegacyTask,
  type UserStatus,
  type UserStatusRequest,
  waitForLegacyTask,
} from './legacy.ts';
export { isNationalId } from './national-id.ts';
export { readTask, type TaskReading } from './tasks/read-task.ts';
export {
  isTaskOver,
  type ProviderTask,
  readTypedTask,
  type TaskActionResult,
  type TaskResults,
  waitForTask,
} from './tasks/read-typed-task.ts';
export type { Credentials, TaskRequest } from './tasks/start-task.ts';
export { encryptRawCredentials, startTask } from './tasks/start-task.ts';
export {
  createLegalPersonOtpToken,
  createOtpToken,
  type LegalPersonOtpTokenRequest,
  type OtpToken,
  type OtpTokenRequest,
} from './tokens/create-otp-token.ts';
export { cacheSessionTokens, logIn, type SessionTokens, withSession } from './tokens/session-tokens.ts';
export { createTaskToken, type TaskToken, type TaskTokenRequest } from './tokens/task-tokens.ts';
export * from './transport/errors.ts';
export type { Fetch } from './transport/fetch-type.ts';
export { freshConnectionFetch } from './transport/fresh-connection-fetch.ts';
export type { RetryAfter } from './transport/retry-after.ts';
export type { Connection, Endpoint } from './transport/send-request.ts';
export type { WaitOptions } from './transport/wait-until.ts';
export * from './vocabulary.ts';
