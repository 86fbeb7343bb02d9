/**
 * A fault to inject into a function of the deployment under test. A rule is a JSON file in a directory that test and
 * functions share, once for each request that it applies to: who removes the file injects the fault.
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
  /** How many requests fail: 1 by default. */
  readonly times?: number;
  /** `exit`: the process ends, as that of a killed function. `answer`: the SDK gets this answer. */
  readonly effect:
    | { readonly kind: 'exit' }
    | { readonly kind: 'answer'; readonly status: number; readonly errorType: string };
};
