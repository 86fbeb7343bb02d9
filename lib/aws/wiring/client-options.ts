/**
 * Limits for the AWS clients of a function that somebody waits for, in milliseconds. The webhook has 5 s for its
 * answer, cold start included ("Events", rule 8) and makes three calls one after the other; DynamoDB answers in
 * under 20 ms as a rule. With 1 s a try and 3 tries, one slow call still leaves room for the other two.
 * `throwOnRequestTimeout`: without it the SDK only warns
 * (https://github.com/smithy-lang/smithy-typescript/blob/main/packages/types/src/http/httpHandlerInitialization.ts).
 */
export const promptClient = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 1_000, throwOnRequestTimeout: true },
};

/** For functions that nobody waits for: they would rather wait than lose a write that must not be lost. */
export const patientClient = {
  maxAttempts: 5,
  requestHandler: { connectionTimeout: 2_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
};
