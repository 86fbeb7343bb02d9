/** Parts of the names that CloudFormation generates for the logs. `api` is the access log of the API, and `event-fan-out` that of the pipe. */
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
  api: 'ExtractionApiAccessLog',
  'event-fan-out': 'EventFanOut',
} as const;

export type LogName = keyof typeof logOf;

export const logNames = Object.keys(logOf) as readonly LogName[];
