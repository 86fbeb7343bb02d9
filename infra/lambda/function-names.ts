/** The functions; each is `functions/<name>.ts`. The settings `callersMayErase` and `publishEvents` add the last two. */
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
  'publish-events',
] as const;

export type FunctionName = (typeof functionNames)[number];

/** The directory of each function's code, with an `index.js` that exports `handler`. */
export type FunctionCode = Readonly<Record<FunctionName, string>>;
