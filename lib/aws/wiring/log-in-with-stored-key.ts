import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { logIn } from '../../provider/tokens/log-in.ts';
import type { Connection } from '../../provider/transport/send-request.ts';
import { readSecret } from '../read-secret.ts';
import { untilSetUp } from './until-set-up.ts';

/**
 * Logs in with the API key of Secrets Manager, read anew for each login: logins are as rare as session tokens
 * are long-lived, and so a rotated key is picked up without a deploy.
 */
export const logInWithStoredKey =
  (client: SecretsManagerClient, secretName: string, connection: Connection, expireMinutes: number) =>
  async (): Promise<string> =>
    logIn(connection, await untilSetUp(() => readSecret(client, secretName)), expireMinutes);
