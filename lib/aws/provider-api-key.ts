import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { ProviderUnauthorized } from '../provider/errors.ts';
import { logIn } from '../provider/log-in.ts';
import type { Connection } from '../provider/send-request.ts';
import { readSecret, SecretNotFilled } from './read-secret.ts';

/**
 * Logs in with the API key of Secrets Manager, read anew for each login: logins are as rare as session tokens
 * are long-lived, and so a rotated key is picked up without a deploy. A secret that is not filled yet is, to
 * the caller, a key that the provider would not take: retried while the start window lasts.
 */
export const logInWithStoredKey =
  (client: SecretsManagerClient, secretName: string, connection: Connection, expireMinutes: number) =>
  async (): Promise<string> => {
    let apiKey: string;
    try {
      apiKey = await readSecret(client, secretName);
    } catch (error) {
      if (!(error instanceof SecretNotFilled)) throw error;
      throw new ProviderUnauthorized(error.message, { cause: error });
    }
    return logIn(connection, apiKey, expireMinutes);
  };
