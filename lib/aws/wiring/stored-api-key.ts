import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { WithApiKey } from '../../provider/tokens/session-tokens.ts';
import { ProviderUnauthorized } from '../../provider/transport/errors.ts';
import { readSecret } from '../read-secret.ts';

/** How long a process uses an API key after reading it. */
const usableMs = 5 * 60_000;

/**
 * Makes calls with the API key from Secrets Manager, and keeps the key. A rotated key needs no deployment: a 401 for a kept
 * key reads it again, and the call is made once more if the key has changed. Throws NotConfigured, the SDK's errors, and
 * what the call throws.
 */
export const withStoredApiKey = (
  client: SecretsManagerClient,
  secretName: string,
  now: () => Date,
): WithApiKey => {
  let kept: { readonly apiKey: string; readonly usableUntil: number } | undefined;

  const read = async (): Promise<string> => {
    const readAt = now().getTime();
    const apiKey = await readSecret(client, secretName);
    kept = { apiKey, usableUntil: readAt + usableMs };
    return apiKey;
  };

  return async (call) => {
    const known = kept !== undefined && now().getTime() < kept.usableUntil ? kept.apiKey : undefined;
    const used = known ?? (await read());
    try {
      return await call(used);
    } catch (error) {
      if (!(error instanceof ProviderUnauthorized)) throw error;
      kept = undefined;
      if (known === undefined) throw error;
      const current = await read();
      if (current === used) throw error;
      return call(current);
    }
  };
};
