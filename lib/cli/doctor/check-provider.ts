import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { readSecret } from '../../aws/read-secret.ts';
import { createConnection } from '../../aws/wiring/provider-from-environment.ts';
import { NotConfigured } from '../../not-configured.ts';
import { logIn } from '../../provider/tokens/log-in.ts';
import { ProviderError, ProviderUnauthorized, ProviderUnreachable } from '../../provider/transport/errors.ts';
import type { ReconcileSettings } from '../aws/reconcile-function.ts';
import { type Finding, failed, passed, skipped } from './finding.ts';

/** Whether the provider takes the API key: by logging in, from this machine, for the shortest time. */
export const checkProvider = async (
  secrets: SecretsManagerClient,
  apiKeySecret: string,
  { providerBaseUrl, providerTimeouts }: ReconcileSettings,
): Promise<Finding> => {
  // The answer is a token; more than 64 KiB is none.
  const connection = createConnection(providerBaseUrl, providerTimeouts, 64 * 1024);
  try {
    await logIn(connection, await readSecret(secrets, apiKeySecret), 1);
    return passed(`provider ${providerBaseUrl} takes the API key`);
  } catch (error) {
    if (error instanceof NotConfigured) return skipped('provider: not asked, as the API key is not filled');
    if (error instanceof ProviderUnauthorized) {
      return failed(
        `provider ${providerBaseUrl} refuses the API key`,
        'Fill the right one (output FillProviderApiKey).',
      );
    }
    if (error instanceof ProviderUnreachable) {
      return failed(
        `provider ${providerBaseUrl} is out of reach from this machine`,
        'Is the setting providerBaseUrl right? If the functions reach it, ProviderReadFailed stays low.',
      );
    }
    if (!(error instanceof ProviderError)) throw error;
    return failed(
      `provider ${providerBaseUrl} does not log in (${error.name})`,
      'Is it down? Extractions wait meanwhile.',
    );
  }
};
