/**
 * One thing that goes wrong in a function of the deployment under test. A rule is a JSON file in a directory that
 * test and functions share; its name says how many requests it still waits for (`rule-name.ts`).
 */
export type FaultRule = {
  /** Part of `x-amz-target` (DynamoDB, Step Functions, KMS, Secrets Manager) or of `METHOD /path` (S3). */
  readonly operation: string;
  /** All of these stand in the request's body or path. */
  readonly contains?: readonly string[];
  /** All of these stand in the event that the function was invoked with, as compact JSON. */
  readonly during?: readonly string[];
  /** Before the request leaves, or after the service has done what it asked. */
  readonly when: 'before' | 'after';
  /** How many requests that fit are let through first; none, if left out. */
  readonly skip?: number;
  /** How many requests it then happens to; once, if left out. */
  readonly times?: number;
  /** `exit`: the process dies, as a function does that is killed. `answer`: the service's answer is this one. */
  readonly effect:
    | { readonly kind: 'exit' }
    | { readonly kind: 'answer'; readonly status: number; readonly errorType: string };
};
