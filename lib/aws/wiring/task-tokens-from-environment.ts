import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { createTaskToken } from '../../provider/tokens/create-task-token.ts';
import { cacheTaskTokens, type TaskTokens } from '../../provider/tokens/task-tokens.ts';
import type { Connection } from '../../provider/transport/send-request.ts';
import { readSecret } from '../read-secret.ts';
import { optionalSetting, requiredVariable } from './environment.ts';

/**
 * Task Tokens made with the API key of Secrets Manager, read anew for each as in `logInWithStoredKey`, and with
 * the client identifier of the environment. `current` throws SettingMissing, SecretNotFilled and ProviderErrors.
 */
export const taskTokensFromEnvironment = (
  secrets: SecretsManagerClient,
  connection: Connection,
  now: () => Date,
): TaskTokens => {
  const secretName = requiredVariable('PROVIDER_API_KEY_SECRET');
  return cacheTaskTokens({
    create: async (target) => {
      const clientId = optionalSetting('PROVIDER_CLIENT_ID', 'providerClientId');
      const apiKey = await readSecret(secrets, secretName);
      return (await createTaskToken(connection, apiKey, { target, clientId })).taskToken;
    },
    lifetimeMs: Number(requiredVariable('TASK_TOKEN_MINUTES')) * 60_000,
    now,
  });
};
