/**
 * What went wrong with a call to the provider, told by what the caller may safely do next. Messages name the
 * call and the status, never a header, a body or a value: those hold credentials and bank data.
 */
export abstract class ProviderError extends Error {
  override readonly name: string = 'ProviderError';
}

/** Surely never sent: name resolution, a refused or timed-out connect, a certificate that was not accepted. */
export class ProviderUnreachable extends ProviderError {
  override readonly name = 'ProviderUnreachable';
}

/** HTTP 429. Taken to mean "not taken" (see `assumptions.ts`). */
export class ProviderBusy extends ProviderError {
  override readonly name = 'ProviderBusy';
}

/** HTTP 401: the Bearer token or the API key failed, on the call itself ("Authentication", rule 3). */
export class ProviderUnauthorized extends ProviderError {
  override readonly name = 'ProviderUnauthorized';
}

/** Any other 4xx but 408: the provider understood the call and will not do it. */
export class ProviderRefused extends ProviderError {
  override readonly name = 'ProviderRefused';
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** An answer over the size cap. It was not read to its end. */
export class ProviderAnswerTooLarge extends ProviderError {
  override readonly name = 'ProviderAnswerTooLarge';
}

/** Everything else: 5xx, 408, 3xx, a timeout, a reset, an unreadable answer. The call may have taken effect. */
export class ProviderAmbiguous extends ProviderError {
  override readonly name = 'ProviderAmbiguous';
}
