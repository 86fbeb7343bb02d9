/** The messages of log lines that commands, the console, alarms and acceptance read. Their writers and readers both import them. */
export const logMessages = {
  requested: 'Extraction requested.',
  accepted: 'The provider accepted the task.',
  startFinished: 'Start finished.',
  started: 'Extraction started.',
  rateChanged: 'The rate of starts changed.',
  ended: 'Extraction ended.',
  corrected: 'Outcome corrected.',
  errorCodesCollected: 'Error codes collected.',
  deliveryReceived: 'Delivery received.',
  deliveryRefused: 'Delivery refused.',
  deliveryUnreadable: 'A verified delivery could not be read.',
  sweepFinished: 'Sweep finished.',
  reconcileFinished: 'Reconcile finished.',
  erased: 'Extraction erased.',
} as const;
