import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { readSecret } from '../read-secret.ts';
import { requiredVariable } from './environment-variables.ts';

/**
 * The key of the MACs of requests and credentials. It is kept for the life of the process, because it is generated with the stack
 * and never rotated.
 */
export const fingerprintKeyFromEnvironment = (secrets: SecretsManagerClient): (() => Promise<string>) => {
  const name = requiredVariable('FINGERPRINT_KEY_SECRET');
  let key: Promise<string> | undefined;
  return () => {
    key ??= readSecret(secrets, name).catch((error: unknown) => {
      key = undefined;
      throw error;
    });
    return key;
  };
};
