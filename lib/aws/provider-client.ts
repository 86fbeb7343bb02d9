import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Connection } from '../provider/send-request.ts';
import { cacheSessionTokens, type SessionTokens } from '../provider/session-tokens.ts';
import { required } from './environment.ts';
import { logInWithStoredKey } from './provider-api-key.ts';
import { connectionTo, parseProviderTimeouts } from './provider-connection.ts';

/** How a function reaches the provider, from its environment. */
export const providerConnection = (maxAnswerBytes: number): Connection =>
  connectionTo(
    required('PROVIDER_BASE_URL'),
    parseProviderTimeouts(required('PROVIDER_TIMEOUTS')),
    maxAnswerBytes,
  );

/** What a function needs to talk to the provider, put together from its environment. */
export type ProviderClient = { readonly connection: Connection; readonly sessions: SessionTokens };

export const providerClient = (
  secrets: SecretsManagerClient,
  {
    now,
    maxAnswerBytes,
    encryptRawCredentials = false,
  }: { readonly now: () => Date } & Pick<Connection, 'maxAnswerBytes' | 'encryptRawCredentials'>,
): ProviderClient => {
  const sessionMinutes = Number(required('SESSION_MINUTES'));
  const connection = { ...providerConnection(maxAnswerBytes), encryptRawCredentials };
  const logIn = logInWithStoredKey(secrets, required('PROVIDER_API_KEY_SECRET'), connection, sessionMinutes);
  const sessions = cacheSessionTokens({ logIn, lifetimeMs: sessionMinutes * 60_000, now });
  return { connection, sessions };
};
