/** The functions; each is `functions/<name>.ts`. The setting `callersMayErase` adds manage-erasures. */
export const functionNames = [
  'request-extraction',
  'get-extraction',
  'start-task',
  'dispatch-starts',
  'receive-webhook',
  'reconcile-extraction',
  'sweep-extractions',
  'erase-extractions',
  'manage-consents',
  'manage-erasures',
] as const;

export type FunctionName = (typeof functionNames)[number];

/** The directory of each function's code, with an `index.js` that exports `handler`. */
export type FunctionCode = Readonly<Record<FunctionName, string>>;
