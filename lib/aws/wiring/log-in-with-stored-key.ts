import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { logIn } from '../../provider/tokens/log-in.ts';
import type { Connection } from '../../provider/transport/send-request.ts';
import { readSecret } from '../read-secret.ts';

/**
 * Returns a login with the API key from Secrets Manager. Each login reads the key again, so a rotated key needs no
 * deployment. The login throws NotConfigured, ProviderErrors and the SDK's errors.
 */
export const logInWithStoredKey =
  (client: SecretsManagerClient, secretName: string, connection: Connection, expireMinutes: number) =>
  async (): Promise<string> =>
    logIn(connection, await readSecret(client, secretName), expireMinutes);
