/** Errors that start-task reports (lib/extraction/start/start-answer.ts). */
const startErrors: Readonly<Record<string, string>> = {
  CiphertextExpired: 'the caller had encrypted the credentials more than 60 minutes before',
  ProviderBusy: 'the provider was busy (429)',
  ProviderPaused: 'no call was made, as starts were paused or held by a circuit breaker',
  ProviderUnreachable: 'the provider could not be reached',
  ProviderUnauthorized: 'the provider gave no token',
  RequestDataGone: 'the sealed data of its request are gone',
  StartFailed: 'start-task failed, and its log has the cause',
  StartInProgress: 'an earlier start was still in progress',
};

/** The error as a clause; undefined for one that start-task does not report by name, such as those of Lambda. */
export const knownStartError = (error: string): string | undefined => startErrors[error];

export const describeStartError = (error: string): string =>
  knownStartError(error) ?? `start-task failed with ${error}`;
