import type { Observed } from '../extraction/observed.ts';
import type { WebhookObserved } from '../webhook/receive-delivery.ts';

/** Counts that are none of the domain's own. */
export type ServiceObserved =
  /** A start was put off, to be tried again by the machine. */
  | 'ProviderBusy'
  | 'ProviderUnreachable'
  | 'ProviderUnauthorized'
  | 'SecretNotFilled'
  | 'SweepBegun'
  /** It has ended. */
  | 'Swept'
  | 'SweepFailed'
  | 'SweepCutShort'
  | 'SweepClaimed'
  | 'OldestOverdueSeconds'
  | 'OldestUnclosedSeconds';

/** Everything that is counted: the names of our CloudWatch metrics. */
export type Counted = Observed | WebhookObserved | ServiceObserved;

/**
 * The value of their one dimension, `service`. The same for every function: an outcome is counted by whichever
 * function learns it, and an alarm, a graph and the bill want one metric for it. Which one it was is in the logs.
 */
export const countedService = 'cosecha';

/** What somebody will want to look into: of these the log says which extraction, or which task, it was about. */
export const noteworthy: ReadonlySet<Counted> = new Set([
  'Unconfirmed',
  'NotStarted',
  'StatusDisagreement',
  'UnknownTaskStatus',
  'WebhookUnknownStatus',
  'UnexpectedResults',
  'CollectionGivenUp',
  'UnlinkedDelivery',
  'DeliveryWithoutRecord',
  'TaskLinkedElsewhere',
  'InvalidTaskToken',
]);

/**
 * What alarms subtract and divide. Every sweep that begins adds 0 to these, so that each has a value in every
 * period: metric math over a metric without any value has none either, and its alarm would never sound.
 */
export const compared: readonly Counted[] = [
  'UnlinkedDelivery',
  'EarlyDelivery',
  'SettledByWebhook',
  'SettledByStart',
  'WebhookMissed',
  'PollWithoutAnswer',
  'Collected',
  'SweepBegun',
  'Swept',
];
