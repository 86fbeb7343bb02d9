import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { cacheSessionTokens, type SessionTokens } from '../../provider/tokens/session-tokens.ts';
import type { Connection } from '../../provider/transport/send-request.ts';
import { requiredVariable } from './environment.ts';
import { logInWithStoredKey } from './log-in-with-stored-key.ts';
import { createConnection, parseProviderTimeouts } from './provider-connection.ts';

/** How a function reaches the provider, from its environment. */
export const connectionFromEnvironment = (maxAnswerBytes: number): Connection =>
  createConnection(
    requiredVariable('PROVIDER_BASE_URL'),
    parseProviderTimeouts(requiredVariable('PROVIDER_TIMEOUTS')),
    maxAnswerBytes,
  );

/** What a function needs to talk to the provider, put together from its environment. */
export type ProviderAccess = { readonly connection: Connection; readonly sessions: SessionTokens };

export const providerFromEnvironment = (
  secrets: SecretsManagerClient,
  {
    now,
    maxAnswerBytes,
    encryptRawCredentials = false,
  }: { readonly now: () => Date } & Pick<Connection, 'maxAnswerBytes' | 'encryptRawCredentials'>,
): ProviderAccess => {
  const sessionMinutes = Number(requiredVariable('SESSION_MINUTES'));
  const connection = { ...connectionFromEnvironment(maxAnswerBytes), encryptRawCredentials };
  const logIn = logInWithStoredKey(
    secrets,
    requiredVariable('PROVIDER_API_KEY_SECRET'),
    connection,
    sessionMinutes,
  );
  const sessions = cacheSessionTokens({ logIn, lifetimeMs: sessionMinutes * 60_000, now });
  return { connection, sessions };
};
