/**
 * What the domain counts. Each becomes one CloudWatch metric of the same name and nothing else: no value of a
 * record, so nothing can leak.
 */
export type ExtractionMetric =
  /** settle: the outcome came by a verified webhook, by the early webhook at the start, or by a read. */
  | 'SettledByWebhook'
  | 'SettledByStart'
  | 'SettledByReconcile'
  /** settle by a read, where a webhook should have told: every delivery was lost, or refused. */
  | 'WebhookMissed'
  | 'Rejected'
  | 'Unconfirmed'
  | 'NotStarted'
  | 'TimedOut'
  /** An outcome of ours was replaced by the provider's. */
  | 'Corrected'
  /** Webhook and read named different terminal statuses; the record keeps the first. */
  | 'StatusDisagreement'
  /** The provider named a status that the document does not list. */
  | 'UnknownTaskStatus'
  /** `results` had an unexpected shape, or a text where a code belongs; the bytes were stored all the same. */
  | 'UnexpectedResults'
  | 'Collected'
  /** A try to collect that failed; and such a try after which the machine does not try again at once. */
  | 'CollectionFailed'
  | 'CollectionDeferred'
  | 'CollectionAbandoned'
  /** A read of the provider that told nothing. */
  | 'ProviderReadFailed'
  /** A delivery for a task that no extraction is linked to: early, or an orphan. */
  | 'UnlinkedDelivery'
  /** settle by such a delivery, found when the extraction came to know its task. Without one it is an orphan. */
  | 'EarlyDelivery'
  /** A delivery for a task whose extraction has no record any more. */
  | 'DeliveryWithoutRecord'
  /** The provider gave one taskId to two extractions. With each look at it. */
  | 'TaskLinkedElsewhere'
  /** Step Functions does not know the token as one of its own. */
  | 'InvalidCallbackToken';

export type Count = (observed: ExtractionMetric) => void;
