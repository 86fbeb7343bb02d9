import type { ProblemType } from '../http/problem.ts';
import {
  InvalidProviderRequest,
  ProviderBusy,
  type ProviderError,
  ProviderRefused,
  ProviderUnauthorized,
  ProviderUnreachable,
} from '../provider/transport/errors.ts';

/** The problem types for a request that failed at the provider. */
type Explanation = { readonly type: ProblemType; readonly detail?: string };

const ofRefusal = (status: number, about: 'consent' | 'user'): Explanation => {
  if (status === 403) return { type: 'provider-forbids', detail: 'The provider answered 403.' };
  if (status === 404 && about === 'consent') return { type: 'consent-not-found' };
  if (status === 409) return { type: 'consent-conflict' };
  return { type: 'provider-refused', detail: `The provider answered ${status}.` };
};

/**
 * Maps a provider error to a problem by what the caller can do next. `about` is `consent` if the route is about one consent. For all other
 * routes, a 404 says nothing about a consent.
 */
export const explainProviderFailure = (error: ProviderError, about: 'consent' | 'user'): Explanation => {
  if (error instanceof ProviderRefused) return ofRefusal(error.status, about);
  if (error instanceof ProviderUnauthorized) {
    return {
      type: 'provider-forbids',
      detail: "The provider accepts neither this stack's API key nor a token made with it.",
    };
  }
  // All other fields were validated before. A consent with an id that fits into no path does not exist.
  if (error instanceof InvalidProviderRequest) {
    return about === 'consent' ? { type: 'consent-not-found' } : { type: 'provider-refused' };
  }
  if (error instanceof ProviderBusy) return { type: 'unavailable', detail: 'The provider is busy.' };
  if (error instanceof ProviderUnreachable) {
    return { type: 'unavailable', detail: 'The provider could not be reached. Nothing was done.' };
  }
  return { type: 'provider-failed', detail: 'The provider may have carried out the request.' };
};
