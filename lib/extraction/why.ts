/**
 * Why a step ended as it did, or what it waits for: the `why` of plans and of log lines, each with its meaning as a clause.
 * `cosecha explain` and the console take the meanings from here.
 */
export const whys = {
  'not-started-yet': 'the start window is not over, and the execution may still start it',
  'start-in-progress': 'another process may be making the start call',
  'still-running': 'the provider reported that the task runs',
  'no-results': 'the provider returned no results',
  'results-too-large': 'the results exceed resultsMaxBytes',
  'results-not-stored': 'the bucket did not accept the results',
  'read-ends-process': 'each of the last reads ended its process, so none is made',
  'request-data-gone': 'the sealed data of the request are gone, which each read needs',
  'task-linked-elsewhere': 'the task belongs to another extraction',
  'unknown-record': 'a newer version wrote the record, and this one does not know its status or schema',
  early: 'the clock of the sender is ahead, so that the message came before its time',
  contended: 'other processes changed the record before each of ten writes',

  ProviderPaused:
    'no call was made, as an operator paused such calls, or a circuit breaker or the provider held them',
  ProviderBusy: 'the provider was busy (429)',
  ProviderUnreachable: 'the provider could not be reached',
  ProviderUnauthorized: 'the provider gave no token',
  ProviderRefused: 'the provider refused the call (4xx)',
  ProviderExtractionFailed: 'the provider answered with an error of its own',
  ProviderAnswerTooLarge: 'the answer was over the size limit',
  ProviderAmbiguous: 'the provider gave no answer that could be used',
  ProviderError: 'the call of the provider failed',
  InvalidProviderRequest: 'the request could not be sent',
  InternalError: 'the service failed, and its log has the cause',

  CiphertextExpired: 'the caller had encrypted the credentials more than 60 minutes before',
  RequestDataGone: 'the sealed data of its request are gone',
  StartWindowOver: 'the start window was over',
  StartInProgress: 'an earlier start was still in progress',
  StartFailed: 'start-task failed, and its log has the cause',
} as const;

export type Why = keyof typeof whys;

export const isWhy = (text: string): text is Why => Object.hasOwn(whys, text);
