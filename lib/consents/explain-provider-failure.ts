import type { APIGatewayProxyStructuredResultV2 as Answer } from 'aws-lambda';
import { problem } from '../http/problem.ts';
import {
  InvalidProviderRequest,
  ProviderBusy,
  type ProviderError,
  ProviderRefused,
  ProviderUnauthorized,
  ProviderUnreachable,
} from '../provider/transport/errors.ts';

const ofRefusal = (status: number, about: 'consent' | 'user'): Answer => {
  if (status === 403) return problem('provider-forbids', { detail: 'The provider answered 403.' });
  if (status === 404 && about === 'consent') return problem('consent-not-found');
  if (status === 409) return problem('consent-conflict');
  return problem('provider-refused', { detail: `The provider answered ${status}.` });
};

/**
 * The problem for a request that failed at the provider, by what the caller can do next. `about` is `consent` if the route is about one
 * consent. For all other routes, a 404 says nothing about a consent.
 */
export const explainProviderFailure = (error: ProviderError, about: 'consent' | 'user'): Answer => {
  if (error instanceof ProviderRefused) return ofRefusal(error.status, about);
  if (error instanceof ProviderUnauthorized) {
    const detail = "The provider accepts neither this stack's API key nor a token made with it.";
    return problem('provider-forbids', { detail });
  }
  // All other fields were validated before. A consent with an id that fits into no path does not exist.
  if (error instanceof InvalidProviderRequest) {
    return problem(about === 'consent' ? 'consent-not-found' : 'provider-refused');
  }
  if (error instanceof ProviderBusy) return problem('unavailable', { detail: 'The provider is busy.' });
  if (error instanceof ProviderUnreachable) {
    return problem('unavailable', { detail: 'The provider could not be reached. Nothing was done.' });
  }
  return problem('provider-failed', { detail: 'The provider may have carried out the request.' });
};
