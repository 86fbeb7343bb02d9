import type { ExtractionMetric } from '../extraction/extraction-metric.ts';
import type { WebhookMetric } from '../webhook/receive-delivery.ts';

/** Counts that are none of the domain's own. */
export type ServiceMetric =
  /** A start was put off, to be tried again by the machine. */
  | 'ProviderBusy'
  | 'ProviderUnreachable'
  | 'ProviderUnauthorized'
  | 'SecretNotFilled'
  | 'SweepStarted'
  /** It has ended. */
  | 'SweepFinished'
  | 'SweepFailed'
  | 'SweepCutShort'
  | 'SweepClaimed'
  | 'OldestOverdueSeconds'
  | 'OldestStuckSeconds';

/** Everything that is counted: the names of our CloudWatch metrics. */
export type MetricName = ExtractionMetric | WebhookMetric | ServiceMetric;

/**
 * The value of their one dimension, `service`. The same for every function: an outcome is counted by whichever
 * function learns it, and an alarm, a graph and the bill want one metric for it. Which one it was is in the logs.
 */
export const metricsService = 'cosecha';

/** What somebody will want to look into: of these the log says which extraction, or which task, it was about. */
export const loggedMetrics: ReadonlySet<MetricName> = new Set([
  'Unconfirmed',
  'NotStarted',
  'StatusDisagreement',
  'UnknownTaskStatus',
  'WebhookUnknownStatus',
  'UnexpectedResults',
  'CollectionAbandoned',
  'UnlinkedDelivery',
  'DeliveryWithoutRecord',
  'TaskLinkedElsewhere',
  'InvalidCallbackToken',
]);

/**
 * What alarms subtract and divide. Every sweep that begins adds 0 to these, so that each has a value in every
 * period: metric math over a metric without any value has none either, and its alarm would never sound.
 */
export const zeroFilledMetrics: readonly MetricName[] = [
  'UnlinkedDelivery',
  'EarlyDelivery',
  'SettledByWebhook',
  'SettledByStart',
  'WebhookMissed',
  'ProviderReadFailed',
  'Collected',
  'SweepStarted',
  'SweepFinished',
];
