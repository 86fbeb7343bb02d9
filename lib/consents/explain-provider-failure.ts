import type { ProblemType } from '../http/problem.ts';
import {
  InvalidProviderRequest,
  ProviderBusy,
  type ProviderError,
  ProviderRefused,
  ProviderUnauthorized,
  ProviderUnreachable,
} from '../provider/transport/errors.ts';

/** What a caller is told when the provider did not do what was asked. */
export type Explanation = { readonly type: ProblemType; readonly detail?: string };

const ofRefusal = (status: number, about: 'consent' | 'user'): Explanation => {
  if (status === 403) return { type: 'provider-forbids', detail: 'The provider answered 403.' };
  if (status === 404 && about === 'consent') return { type: 'consent-not-found' };
  if (status === 409) return { type: 'consent-conflict' };
  return { type: 'provider-refused', detail: `The provider answered ${status}.` };
};

/**
 * Tells a provider's failure by what the caller may do next. `about`: whether one consent was asked for, or
 * something of the user's, where a 404 is no statement about a consent.
 */
export const explainProviderFailure = (error: ProviderError, about: 'consent' | 'user'): Explanation => {
  if (error instanceof ProviderRefused) return ofRefusal(error.status, about);
  if (error instanceof ProviderUnauthorized) {
    return {
      type: 'provider-forbids',
      detail: "The provider accepts neither this stack's API key nor a token made with it.",
    };
  }
  // Everything else was validated before: an id that fits into no path is the id of no consent.
  if (error instanceof InvalidProviderRequest) {
    return about === 'consent' ? { type: 'consent-not-found' } : { type: 'provider-refused' };
  }
  if (error instanceof ProviderBusy) return { type: 'unavailable', detail: 'The provider is busy.' };
  if (error instanceof ProviderUnreachable) {
    return { type: 'unavailable', detail: 'The provider could not be reached, so nothing was done.' };
  }
  return { type: 'provider-failed', detail: 'What was asked for may have been done all the same.' };
};
