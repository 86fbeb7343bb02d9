import { describeProblem, problemTypeIn, type Violation, violationsIn } from './describe-problem.ts';

/**
 * The API answered with an error. `problem` is the `type` of its problem+json, such as `urn:cosecha:problem:idempotency-key-reused`. It is
 * absent if API Gateway itself answered.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly problem: string | undefined;
  /** A sentence, then a line for each violation. */
  readonly lines: readonly string[];
  /** The violations that the answer names. */
  readonly violations: readonly Violation[];

  /** `minutesOff` is how far the clock of this machine is ahead of API Gateway's clock, if known. */
  constructor(status: number, body: string, minutesOff?: number) {
    const lines = describeProblem(status, body, minutesOff);
    super(lines.join('\n'));
    this.status = status;
    this.problem = problemTypeIn(body);
    this.lines = lines;
    this.violations = violationsIn(body);
  }

  /** Whether the same call may succeed later. */
  get isTransient(): boolean {
    return isTransientStatus(this.status);
  }
}

/** No answer came. The API may have received the request, so repeat it only under the same idempotency key. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';

  constructor(url: string, options: { readonly cause: unknown }) {
    super(`${url} did not answer.`, options);
  }
}

/** 5xx and API Gateway's 429. Not 501, which means that a setting is missing. */
export const isTransientStatus = (status: number): boolean =>
  (status >= 500 && status !== 501) || status === 429;
