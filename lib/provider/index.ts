/** The provider's interface, usable without the rest of this repository: no AWS. See docs/provider-client.md. */
export { createProviderClient, type ProviderClient, type ProviderClientOptions } from './client.ts';
export type { LegacyTaskOrder } from './client-legacy.ts';
export type { Consent } from './consent.ts';
export {
  createLegalPersonOtpToken,
  createOtpToken,
  type LegalPersonOtpTokenRequest,
  type OtpToken,
  type OtpTokenRequest,
} from './create-otp-token.ts';
export { createTaskToken, type TaskToken, type TaskTokenRequest } from './create-task-token.ts';
export { UndecryptableText } from './credential-cipher.ts';
export { decryptCredentials } from './decrypt-credentials.ts';
export { encryptCredentials } from './encrypt-credentials.ts';
export { encryptRawCredentials } from './encrypt-raw-credentials.ts';
export * from './errors.ts';
export type { ExtractionRequest } from './extraction-request.ts';
export type { Fetch } from './fetch.ts';
export { freshConnectionFetch } from './fresh-connection.ts';
export { getConsent } from './get-consent.ts';
export { type ConsentPdf, getConsentPdf } from './get-consent-pdf.ts';
export { getUserStatus, type UserStatus, type UserStatusRequest } from './get-user-status.ts';
export { iterateConsents } from './iterate-consents.ts';
export { type ConsentPage, type ConsentQuery, listConsents } from './list-consents.ts';
export { type Entity, listEntities } from './list-entities.ts';
export { logIn } from './log-in.ts';
export { isNationalId } from './national-id.ts';
export { type ExtractionReading, pollExtraction } from './poll-extraction.ts';
export { type ExtractionReadingV2, pollExtractionV2 } from './poll-extraction-v2.ts';
export { type LegacyTaskReading, type LegacyTaskResults, pollLegacyTask } from './poll-legacy-task.ts';
export type { Preset } from './preset.ts';
export { isMovementItem, isTefRecipient, type MovementItem, type TefRecipient } from './product-items.ts';
export { readTask, type TaskReading } from './read-task.ts';
export {
  type ActionResult,
  isTaskOver,
  readTypedTask,
  type Task,
  type TaskResults,
} from './read-typed-task.ts';
export { type RetrievedData, retrieveData } from './retrieve-data.ts';
export { type RevokedConsent, revokeConsent } from './revoke-consent.ts';
export type { Connection, Endpoint } from './send-request.ts';
export { cacheSessionTokens, type SessionTokens } from './session-tokens.ts';
export { startExtraction } from './start-extraction.ts';
export { startExtractionV2 } from './start-extraction-v2.ts';
export { type LegacyTaskRequest, startLegacyTask } from './start-legacy-task.ts';
export { type Credentials, startTask, type TaskRequest } from './start-task.ts';
export * from './vocabulary.ts';
export { waitForExtraction } from './wait-for-extraction.ts';
export { waitForExtractionV2 } from './wait-for-extraction-v2.ts';
export { waitForLegacyTask } from './wait-for-legacy-task.ts';
export { waitForTask } from './wait-for-task.ts';
export type { WaitOptions } from './wait-until.ts';
export { withSession } from './with-session.ts';
