/**
 * What went wrong with a call to the provider, told by what the caller may safely do next. Messages name the
 * call and the status, never a header, a body or a value: those hold credentials and bank data.
 */
export abstract class ProviderError extends Error {
  override readonly name: string = 'ProviderError';
}

/** One field of a request that the document does not allow. `rule` never repeats what was there. */
export type RequestViolation = {
  /** Dotted, such as `actions.0.params.dateRange.startDate`; empty for the request as a whole. */
  readonly path: string;
  readonly rule: string;
};

/** Ours, before anything left: the request is not one that the document allows. Surely never sent. */
export class InvalidProviderRequest extends ProviderError {
  override readonly name = 'InvalidProviderRequest';
  readonly violations: readonly RequestViolation[];

  constructor(route: string, violations: readonly RequestViolation[]) {
    const told = violations.map(({ path, rule }) => `${path === '' ? 'it' : path} ${rule}`).join('; ');
    super(`The request to ${route} was not sent: ${told}.`);
    this.violations = violations;
  }
}

/** Surely never sent: name resolution, a refused or timed-out connect, a certificate that was not accepted. */
export class ProviderUnreachable extends ProviderError {
  override readonly name = 'ProviderUnreachable';
}

/** "Sandbox presets for `POST /api/v1/tasks`", by the document's names for them. */
export type LegacyRefusal =
  | 'jwtExpired'
  | 'temporarilyRestricted'
  | 'forbidden'
  | 'processAlreadyRunning'
  | 'notEnoughCredits';

/** HTTP 429. Taken to mean "not taken" (see `assumptions.ts`). */
export class ProviderBusy extends ProviderError {
  override readonly name = 'ProviderBusy';
  /** Of a legacy start only, where the answer had one of the documented texts. */
  declare readonly refusal?: LegacyRefusal;
}

/** HTTP 401: the Bearer token or the API key failed, on the call itself ("Authentication", rule 3). */
export class ProviderUnauthorized extends ProviderError {
  override readonly name = 'ProviderUnauthorized';
  /** Of a legacy start only, where the answer had one of the documented texts. */
  declare readonly refusal?: LegacyRefusal;
}

/** Any other 4xx but 408: the provider understood the call and will not do it. */
export class ProviderRefused extends ProviderError {
  override readonly name = 'ProviderRefused';
  readonly status: number;
  /** Of a legacy start only, where the answer had one of the documented texts. */
  declare readonly refusal?: LegacyRefusal;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/**
 * A v2 consent-based call ended otherwise than with 200 or 202, and its body said how ("Errors", "HTTP"). A 4xx
 * but 408 did not start anything; behind 408 and 5xx of a start there may be a task. A Bearer failure is
 * ProviderUnauthorized all the same.
 */
export class ProviderExtractionFailed extends ProviderError {
  override readonly name = 'ProviderExtractionFailed';
  readonly status: number;
  /** As given: "the values of `errorType` and `errorCode`: not shown". */
  readonly errorType: string;
  /** As given; for subcategories. */
  declare readonly errorCode?: string;

  constructor(message: string, failure: { status: number; errorType: string; errorCode?: string }) {
    super(message);
    this.status = failure.status;
    this.errorType = failure.errorType;
    if (failure.errorCode !== undefined) this.errorCode = failure.errorCode;
  }
}

/** An answer over the size cap. It was not read to its end. */
export class ProviderAnswerTooLarge extends ProviderError {
  override readonly name = 'ProviderAnswerTooLarge';
  /** The 2xx that came before the body. */
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** A v2 task has ended, but its `results` are not what the document describes. `readTask` gives their bytes. */
export class UnexpectedTaskResults extends ProviderError {
  override readonly name = 'UnexpectedTaskResults';
  readonly taskStatus: string;

  constructor(taskStatus: string) {
    super('The results of the task are not of the documented form.');
    this.taskStatus = taskStatus;
  }
}

/** A waiting helper came to its deadline. The task goes on; `cause` is the last poll's failure, if it failed. */
export class WaitTimedOut extends ProviderError {
  override readonly name = 'WaitTimedOut';
}

/** Everything else: 5xx, 408, 3xx, a timeout, a reset, an unreadable answer. The call may have taken effect. */
export class ProviderAmbiguous extends ProviderError {
  override readonly name = 'ProviderAmbiguous';
}
