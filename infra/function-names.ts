/** The functions; each is `functions/<name>.ts`. */
export const functionNames = [
  'request-extraction',
  'get-extraction',
  'start-task',
  'receive-webhook',
  'reconcile-extraction',
  'sweep-extractions',
  'manage-consents',
] as const;

export type FunctionName = (typeof functionNames)[number];

/** The function of the probe, which is not a part of Cosecha. It is bundled with the others, and seldom deployed. */
export const probeFunctionName = 'probe-provider';

export type BundleName = FunctionName | typeof probeFunctionName;

/** The directory of each function's code, with an `index.js` that exports `handler`. */
export type FunctionCode = Readonly<Record<BundleName, string>>;
