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
