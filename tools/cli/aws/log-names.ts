/** Parts of the names that CloudFormation generates for the logs. `api` is the access log of the API. */
export const logOf = {
  'request-extraction': 'RequestExtractionLog',
  'get-extraction': 'GetExtractionLog',
  'start-task': 'StartTaskLog',
  'dispatch-starts': 'StartDispatcherLog',
  'receive-webhook': 'ReceiveWebhookLog',
  'reconcile-extraction': 'ReconcileExtractionLog',
  'sweep-extractions': 'SweepExtractionsLog',
  'erase-extractions': 'EraseExtractionsLog',
  'manage-consents': 'ManageConsentsLog',
  'manage-erasures': 'ManageErasuresLog',
  'publish-events': 'EventPublisherLog',
  api: 'ExtractionApiAccessLog',
} as const;

export type LogName = keyof typeof logOf;

export const logNames = Object.keys(logOf) as readonly LogName[];
