import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { closest } from 'fastest-levenshtein';
import { readSecret } from '../../../lib/aws/read-secret.ts';
import { createConnection } from '../../../lib/aws/wiring/provider-from-environment.ts';
import { isProgrammingError } from '../../../lib/client/is-programming-error.ts';
import { NotConfigured } from '../../../lib/not-configured.ts';
import { listEntities } from '../../../lib/provider/legacy.ts';
import { logIn } from '../../../lib/provider/tokens/session-tokens.ts';
import {
  ProviderError,
  ProviderUnauthorized,
  ProviderUnreachable,
} from '../../../lib/provider/transport/errors.ts';
import { doctorSignature } from '../../../lib/webhook/receive-delivery.ts';
import type { ReconcileSettings } from '../aws/read-reconcile-settings.ts';
import { discardBody } from '../terminal/answer-body.ts';
import { explainFailure } from '../terminal/explain-failure.ts';
import { type Found, failed, passed, skipped } from './finding.ts';

/** The names that the setting `entities` has and the provider's list has not, each with the nearest of the list. */
const compareEntities = (
  entities: readonly string[],
  listed: readonly { readonly id: string; readonly enabled: boolean }[],
  providerBaseUrl: string,
): Found => {
  const ids = listed.map(({ id }) => id);
  const unknown = entities.filter((entity) => !ids.includes(entity));
  if (unknown.length > 0) {
    const each = unknown.map((entity) =>
      ids.length === 0 ? entity : `${entity} (nearest: ${closest(entity, ids)})`,
    );
    return failed(
      `provider ${providerBaseUrl} does not list ${each.join(', ')}`,
      'Correct the setting entities, and deploy the stack again.',
    );
  }
  const disabled = listed.filter(({ id, enabled }) => !enabled && entities.includes(id)).map(({ id }) => id);
  const but = disabled.length > 0 ? `; it has disabled ${disabled.join(', ')}` : '';
  return passed(
    `provider ${providerBaseUrl} accepts the API key, and lists all ${entities.length} of the setting entities${but}`,
  );
};

/**
 * Fails where a login with the API key fails, from this machine and for the shortest time, and where the provider does not list one of
 * `entities`.
 */
export const checkProvider = async (
  secrets: SecretsManagerClient,
  apiKeySecret: string,
  { providerBaseUrl, providerTimeouts }: ReconcileSettings,
  entities: readonly string[],
): Promise<Found> => {
  // A list of some hundred entities has 100 KiB.
  const connection = createConnection(providerBaseUrl, providerTimeouts, 1024 * 1024);
  let call = 'the login';
  try {
    const token = await logIn(connection, await readSecret(secrets, apiKeySecret), 1);
    if (entities.length === 0) return passed(`provider ${providerBaseUrl} accepts the API key`);
    call = 'the list of its entities';
    return compareEntities(entities, await listEntities(connection, token), providerBaseUrl);
  } catch (error) {
    if (error instanceof NotConfigured) return skipped('provider: skipped, as the API key is not filled');
    if (error instanceof ProviderUnauthorized && call === 'the login') {
      return failed(
        `provider ${providerBaseUrl} refuses the API key`,
        (command) => `Fill the right one: \`${command('fill', 'api-key')}\`.`,
      );
    }
    if (error instanceof ProviderUnreachable) {
      return failed(
        `provider ${providerBaseUrl} does not answer this machine`,
        'Check the setting providerBaseUrl. If the functions do reach the provider, the metric ProviderReadFailed stays low.',
      );
    }
    if (!(error instanceof ProviderError)) throw error;
    return failed(
      `provider ${providerBaseUrl} fails ${call} (${error.name})`,
      'It may be down. Extractions wait until it recovers.',
    );
  }
};

/** Fails unless the webhook answers 401 to a delivery with a wrong signature. That delivery changes nothing. */
export const checkWebhook = async (
  fetchUrl: (url: string, init: RequestInit) => Promise<Response>,
  url: string,
): Promise<Found> => {
  let answer: Response;
  try {
    answer = await fetchUrl(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-service-signature': doctorSignature },
      body: '{}',
      signal: AbortSignal.timeout(15_000),
    });
  } catch (error) {
    if (isProgrammingError(error)) throw error;
    return failed(
      `webhook ${url} does not answer`,
      `${explainFailure(error) ?? 'Check its DNS name and its certificate.'} The provider must reach it, too.`,
    );
  }
  await discardBody(answer);
  const { status } = answer;
  switch (status) {
    case 401:
      return passed(`webhook refuses a wrong signature; the URL to register at the provider is ${url}`);
    case 503:
      return failed(
        'webhook answers 503: it has no signing key',
        'Fill the webhook signing key. Until then the provider repeats its deliveries.',
      );
    case 204:
      return failed(
        'webhook accepts a wrong signature',
        'Another service answers there, or anybody can forge deliveries. Remove the route, and find out which.',
      );
    default:
      if (status >= 500) {
        return failed(`webhook answers ${status}`, 'The log of receive-webhook has the cause.');
      }
      return failed(
        `webhook ${url} answers ${status} instead of 401`,
        'Another service answers there, or the route is missing. Compare it with the output WebhookUrl, and deploy the stack again.',
      );
  }
};
