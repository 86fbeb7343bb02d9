/**
 * One thing that goes wrong, once, in a function of the deployment under test. A rule is a JSON file in a
 * directory that test and functions share; whoever deletes it first is the one it happens to.
 */
export type FaultRule = {
  /** Part of `x-amz-target` (DynamoDB, Step Functions, KMS, Secrets Manager) or of `METHOD /path` (S3). */
  readonly operation: string;
  /** All of these stand in the request's body or path. */
  readonly contains: readonly string[];
  /** Before the request leaves, or after the service has done what it asked. */
  readonly when: 'before' | 'after';
  /** `exit`: the process dies, as a function does that is killed. `answer`: the service's answer is this one. */
  readonly effect:
    | { readonly kind: 'exit' }
    | { readonly kind: 'answer'; readonly status: number; readonly errorType: string };
};
