import { type RetryAfter, retryAtOf } from './retry-after.ts';

/**
 * A failed call to the provider. The class states what the caller can safely do next. Messages contain the call and the
 * status, but never a header, a body or a value, because those contain credentials and bank data.
 */
export abstract class ProviderError extends Error {
  override readonly name: string = 'ProviderError';
  /** When the provider asks to be called again, if its answer said so. */
  declare retryAfter?: RetryAfter;
  /** The error that the answer named, although its status decides. It may be any text. */
  declare named?: NamedError;
}

/** "A body discriminated by `errorType` (and `errorCode` for subcategories)", as returned. */
export type NamedError = { readonly errorType: string; readonly errorCode?: string };

/** One rule that a request breaks. `rule` never repeats a value. */
export type RequestViolation = {
  /** With dots, such as `actions.0.params.dateRange.startDate`. Empty for the request as a whole. */
  readonly path: string;
  readonly rule: string;
};

/** The document does not allow the request. It was not sent. */
export class InvalidProviderRequest extends ProviderError {
  override readonly name = 'InvalidProviderRequest';
  readonly violations: readonly RequestViolation[];

  constructor(path: string, violations: readonly RequestViolation[]) {
    const list = violations
      .map(({ path: field, rule }) => `${field === '' ? 'it' : field} ${rule}`)
      .join('; ');
    super(`The request to ${path} was not sent: ${list}.`);
    this.violations = violations;
  }
}

/** Surely not sent: failed name resolution, a refused or timed-out connect, or an invalid certificate. */
export class ProviderUnreachable extends ProviderError {
  override readonly name = 'ProviderUnreachable';
}

/** The document's names for the texts in "Sandbox presets for `POST /api/v1/tasks`" (`statusesWithTexts`). */
export type LegacyRefusal =
  | 'jwtExpired'
  | 'temporarilyRestricted'
  | 'forbidden'
  | 'processAlreadyRunning'
  | 'notEnoughCredits';

/** HTTP 429. The call was not accepted (see `tooManyRequests`). */
export class ProviderBusy extends ProviderError {
  override readonly name = 'ProviderBusy';
  /** Only for a start whose answer contained a documented text. */
  declare readonly refusal?: LegacyRefusal;
}

/** HTTP 401. The provider refused the Bearer token or the API key ("Authentication", rule 3). */
export class ProviderUnauthorized extends ProviderError {
  override readonly name = 'ProviderUnauthorized';
  /** Only for a legacy start whose answer contained a documented text. */
  declare readonly refusal?: LegacyRefusal;
}

/** Any other 4xx except 408. The provider understood the call and refused it. */
export class ProviderRefused extends ProviderError {
  override readonly name = 'ProviderRefused';
  readonly status: number;
  /** Only for a start whose answer contained a documented text. */
  declare readonly refusal?: LegacyRefusal;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/**
 * A v2 consent-based call returned neither 200 nor 202, and its body has an `errorType` ("Errors", "HTTP"). A start
 * with a 4xx except 408 started nothing. After 408 or 5xx a task may exist. A 401 is ProviderUnauthorized instead.
 */
export class ProviderExtractionFailed extends ProviderError {
  override readonly name = 'ProviderExtractionFailed';
  readonly status: number;
  /** As returned: "the values of `errorType` and `errorCode`: not shown". */
  readonly errorType: string;
  /** A subcategory, as returned. */
  declare readonly errorCode?: string;

  constructor(message: string, failure: { status: number; errorType: string; errorCode?: string }) {
    super(message);
    this.status = failure.status;
    this.errorType = failure.errorType;
    if (failure.errorCode !== undefined) this.errorCode = failure.errorCode;
  }
}

/** A 2xx answer larger than `maxAnswerBytes`. It was not read to its end. */
export class ProviderAnswerTooLarge extends ProviderError {
  override readonly name = 'ProviderAnswerTooLarge';
  /** The status of the answer. */
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** A v2 task has ended with `results` of an undocumented shape. `readTask` returns their bytes. */
export class UnexpectedTaskResults extends ProviderError {
  override readonly name = 'UnexpectedTaskResults';
  readonly taskStatus: string;

  constructor(taskStatus: string) {
    super('The results of the task are not of the documented form.');
    this.taskStatus = taskStatus;
  }
}

/** A wait reached its deadline. The task continues. `cause` is the error of the last poll, if it failed. */
export class WaitTimedOut extends ProviderError {
  override readonly name = 'WaitTimedOut';
}

/**
 * Why there is no usable answer. `timeout` and `reset`: it did not arrive, or only in part. `not-json` and `unexpected-answer`: its body
 * does not have the documented form.
 */
export type NoAnswer = 'timeout' | 'reset' | 'not-json' | 'unexpected-answer';

/** Everything else: 5xx, 408, 3xx, a timeout, a reset or an unreadable answer. The call may have had an effect. */
export class ProviderAmbiguous extends ProviderError {
  override readonly name = 'ProviderAmbiguous';
  /** The status of the answer, if the status is the reason. */
  declare readonly status?: number;
  /** The reason, if it is not the status. */
  declare readonly reason?: NoAnswer;

  constructor(
    message: string,
    options: ErrorOptions & { readonly status?: number; readonly reason?: NoAnswer } = {},
  ) {
    super(message, options);
    if (options.status !== undefined) this.status = options.status;
    if (options.reason !== undefined) this.reason = options.reason;
  }
}

/** The time in `Retry-After` of an answer with one of these statuses, in milliseconds of the epoch. */
export const retryAtOfStatus = (
  error: unknown,
  statuses: readonly number[],
  now: Date,
): number | undefined => {
  const status =
    error instanceof ProviderExtractionFailed || error instanceof ProviderAmbiguous
      ? error.status
      : undefined;
  const is429 = error instanceof ProviderBusy || status === 429;
  if (!(error instanceof ProviderError) || !statuses.includes(is429 ? 429 : (status ?? 0))) return undefined;
  return retryAtOf(error.retryAfter, now);
};
