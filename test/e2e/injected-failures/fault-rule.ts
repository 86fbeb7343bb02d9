/**
 * A fault to inject into a function of the deployment under test. A rule is a JSON file in a directory that test and
 * functions share. Its name has the number of requests that it still applies to (`ruleName`).
 */
export type FaultRule = {
  /** Part of `x-amz-target` (DynamoDB, Step Functions, KMS, Secrets Manager) or of `METHOD /path` (S3). */
  readonly operation: string;
  /** Texts that the request's body or path contains. */
  readonly contains?: readonly string[];
  /** Texts that the function's event contains, as compact JSON. */
  readonly during?: readonly string[];
  /** Before the request is sent, or after the service has carried it out. */
  readonly when: 'before' | 'after';
  /** How many requests fail. Default 1. */
  readonly times?: number;
  /** `exit`: the process ends, as that of a killed function. `answer`: the SDK gets this answer. */
  readonly effect:
    | { readonly kind: 'exit' }
    | { readonly kind: 'answer'; readonly status: number; readonly errorType: string };
};

/** The file name of a rule that applies to `requests` more requests. */
export const ruleName = (id: string, requests: number): string => `${id}.${requests}.json`;

/** The parts of a rule's file name. Undefined for any other file. */
export const parseRuleName = (
  file: string,
): { readonly id: string; readonly requests: number } | undefined => {
  const [, id, requests] = /^([^.]+)\.(\d+)\.json$/.exec(file) ?? [];
  return id === undefined ? undefined : { id, requests: Number(requests) };
};
