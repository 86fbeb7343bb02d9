/** Replaces the retry mode `adaptive` and its rate limiter. It is used only if the variable AWS_RETRY_MODE names it. */
export class AdaptiveRetryStrategy {
  constructor() {
    throw new Error('This bundle has the retry mode standard only.');
  }
}
