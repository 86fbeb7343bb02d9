/**
 * The names of Cosecha's CloudWatch metrics. A metric has a name and a number, and no value of a record, so nothing can leak through it.
 */

/** What happens to an extraction. */
export type ExtractionMetric =
  /** An outcome was recorded: from a verified webhook, from an early delivery, or from a read of the provider. */
  | 'SettledByWebhook'
  | 'SettledByStart'
  | 'SettledByReconcile'
  /** A read settled an extraction with webhook, because every delivery was lost or refused. */
  | 'WebhookMissed'
  /** Cosecha's own outcomes. */
  | 'Rejected'
  | 'Unconfirmed'
  | 'NotStarted'
  | 'TimedOut'
  /** The time from the request to the accepted start, and to the outcome. */
  | 'SecondsToStart'
  | 'SecondsToOutcome'
  /** The outcomes in which the service, the provider or the bank failed (`judgeOutcome`). */
  | 'OutcomeFailed'
  /** A final status of the provider replaced `TIMED_OUT`. If it is often counted, `deadlineSeconds` is too short. */
  | 'Corrected'
  /** Webhook and read reported different final statuses. The record keeps the first. */
  | 'StatusDisagreement'
  /** A read returned a status that the provider's API document does not list. */
  | 'UnknownTaskStatus'
  /** `results` had an unexpected shape, or a text in place of a code. The bytes were stored unchanged. */
  | 'UnexpectedResults'
  /**
   * Results were stored without a requested part, because reads had lacked it for `resultsLagSeconds`. If it is often counted, that setting
   * is too short.
   */
  | 'ResultsIncomplete'
  | 'Collected'
  /**
   * An attempt to collect failed. Deferred: the next attempt is so late that the sweep makes it. Abandoned: the record is closed without
   * results.
   */
  | 'CollectionFailed'
  | 'CollectionDeferred'
  | 'CollectionAbandoned'
  /** A record was deferred, because a newer version has written it. */
  | 'UnknownRecord'
  /** A start or a read found no item in `Requests`. NotRemoved: a used item stays until it expires. */
  | 'RequestDataGone'
  | 'RequestDataNotRemoved'
  /** A read of the provider failed. */
  | 'ProviderReadFailed'
  /** A delivery came for a task that is linked to no extraction: an early delivery or an orphan. */
  | 'UnlinkedDelivery'
  /** An early delivery settled its extraction when the task was linked. */
  | 'EarlyDelivery'
  /** An extraction has waited to be erased for longer than `maxErasureSeconds`. Counted at each of its messages. */
  | 'ErasureOverdue'
  /** A delivery came for a task whose extraction no longer has a record. */
  | 'DeliveryWithoutRecord'
  /** The provider gave one task id to two extractions. Counted at each reconcile that finds it. */
  | 'TaskLinkedElsewhere'
  /** Step Functions does not know the callback token. */
  | 'InvalidCallbackToken';

/** Why the webhook refused or ignored a delivery. */
export type WebhookMetric =
  /** Requests that are no deliveries. Any public address receives some. */
  | 'WebhookTooLarge'
  | 'WebhookSignatureMissing'
  | 'WebhookSignatureMalformed'
  /** A well-formed signature that none of our keys made. */
  | 'WebhookSignatureMismatch'
  /** A mismatch that fits what the text of a signing key encodes or contains. Each process counts it at most once a minute. */
  | 'WebhookKeyEncoded'
  /** A validly signed body or status that the provider's API document does not list. */
  | 'WebhookUnreadable'
  | 'WebhookUnknownStatus';

/** What happens to a start attempt or to a sweep. */
export type ServiceMetric =
  /** The machine retries the start. */
  | 'ProviderBusy'
  | 'ProviderUnreachable'
  | 'ProviderUnauthorized'
  /** A login at the provider, and a 401 to a session token that was believed to be valid. */
  | 'LoggedIn'
  | 'SessionRefused'
  /** The provider refused a start because the monthly quota is used up. */
  | 'QuotaReached'
  /** A function needed a secret that has no value. */
  | 'SecretNotFilled'
  /** AWS refused a call because of a KMS key (`isKeyFailure`). */
  | 'KeyFailed'
  /** A start or a read was not made: the breaker is open, or an operator paused such calls. */
  | 'StartsHeld'
  | 'ReadsHeld'
  | 'BreakerOpened'
  /** The state of a breaker could not be read or written. The call was made. */
  | 'BreakerUnavailable'
  /** How many starts wait in line, published each minute. */
  | 'StartsInLine'
  /** The dispatcher released starts from the line. */
  | 'StartsReleased'
  /** The rate in starts a second, published each minute while a dispatcher runs and there is a rate. */
  | 'StartRate'
  /** The rate of starts could not be read or written, or is damaged. The start was made. */
  | 'RateUnavailable'
  /** Cuts of the rate did not reduce the share of refused starts, and were undone. */
  | 'RateCutUndone'
  /** Failed: a record could not be leased or queued. CutShort: a sweep ran out of time. Sent: records that were queued. */
  | 'SweepStarted'
  | 'SweepFinished'
  | 'SweepFailed'
  | 'SweepCutShort'
  | 'SweepSent'
  /** For how long the oldest record has been due, and for how long the oldest should have changed its status or been closed. */
  | 'OldestOverdueSeconds'
  | 'OldestStuckSeconds';

export type MetricName = ExtractionMetric | WebhookMetric | ServiceMetric;

/**
 * The value of the only dimension, `service`. All functions share it. Several functions record the same kind of
 * outcome, and each alarm and graph needs one metric for all functions. The logs name the function.
 */
export const metricsService = 'cosecha';

/** The namespace that the functions write to. One per stage, so that the stages of an account are counted apart. */
export const metricsNamespace = (stage: string): string => `Cosecha/${stage}`;

/** Metrics that an operator investigates one by one. The log names the extraction or task of each. */
export const loggedMetrics: ReadonlySet<MetricName> = new Set([
  'Unconfirmed',
  'NotStarted',
  'TimedOut',
  'Corrected',
  'StatusDisagreement',
  'UnknownTaskStatus',
  'WebhookUnknownStatus',
  'UnexpectedResults',
  'ResultsIncomplete',
  'CollectionAbandoned',
  'UnknownRecord',
  'RequestDataGone',
  'RequestDataNotRemoved',
  'UnlinkedDelivery',
  'ErasureOverdue',
  'DeliveryWithoutRecord',
  'TaskLinkedElsewhere',
  'InvalidCallbackToken',
]);

/**
 * Metrics that alarms use in metric math. Each sweep adds 0 to them when it starts. Metric math over a metric
 * without data has no result, and its alarm would never fire.
 */
export const zeroFilledMetrics: readonly MetricName[] = [
  'UnlinkedDelivery',
  'EarlyDelivery',
  'SettledByWebhook',
  'SettledByStart',
  'WebhookMissed',
  'ProviderReadFailed',
  'Collected',
];
