import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as v from 'valibot';
import { alsoCountingFor, type CircuitBreaker } from '../../breaker/circuit-breaker.ts';
import { createTaskToken } from '../../provider/tokens/create-task-token.ts';
import { cacheSessionTokens, type SessionTokens } from '../../provider/tokens/session-tokens.ts';
import { cacheTaskTokens, type TaskTokens } from '../../provider/tokens/task-tokens.ts';
import { freshConnectionFetch } from '../../provider/transport/fresh-connection.ts';
import type { Connection } from '../../provider/transport/send-request.ts';
import { readSecret } from '../read-secret.ts';
import { optionalSetting, requiredVariable } from './environment.ts';
import { logInWithStoredKey } from './log-in-with-stored-key.ts';

const timeoutsSchema = v.strictObject({ connect: v.number(), total: v.number() });

/** In milliseconds. */
export type ProviderTimeouts = Readonly<v.InferOutput<typeof timeoutsSchema>>;

/** Parses the environment variable `PROVIDER_TIMEOUTS`. Throws SyntaxError or ValiError if it is malformed. */
export const parseProviderTimeouts = (json: string): ProviderTimeouts =>
  v.parse(timeoutsSchema, JSON.parse(json));

/** A connection to the provider that opens a new TCP connection for every call. */
export const createConnection = (
  baseUrl: string,
  timeouts: ProviderTimeouts,
  maxAnswerBytes: number,
): Connection => ({
  baseUrl,
  fetch: freshConnectionFetch(timeouts.connect),
  totalTimeoutMs: timeouts.total,
  maxAnswerBytes,
});

export const connectionFromEnvironment = (maxAnswerBytes: number): Connection =>
  createConnection(
    requiredVariable('PROVIDER_BASE_URL'),
    parseProviderTimeouts(requiredVariable('PROVIDER_TIMEOUTS')),
    maxAnswerBytes,
  );

export type ProviderAccess = { readonly connection: Connection; readonly sessions: SessionTokens };

/** The connection to the provider, and session tokens from logins with the stored API key. */
export const providerFromEnvironment = (
  secrets: SecretsManagerClient,
  {
    now,
    maxAnswerBytes,
    encryptRawCredentials = false,
    alsoCountLoginsFor,
  }: {
    readonly now: () => Date;
    /** The breaker of the other kind of calls: a failed login counts for both. */
    readonly alsoCountLoginsFor: CircuitBreaker;
  } & Pick<Connection, 'maxAnswerBytes' | 'encryptRawCredentials'>,
): ProviderAccess => {
  const sessionMinutes = Number(requiredVariable('SESSION_MINUTES'));
  const connection = { ...connectionFromEnvironment(maxAnswerBytes), encryptRawCredentials };
  const logIn = alsoCountingFor(
    alsoCountLoginsFor,
    logInWithStoredKey(secrets, requiredVariable('PROVIDER_API_KEY_SECRET'), connection, sessionMinutes),
  );
  const sessions = cacheSessionTokens({ logIn, lifetimeMs: sessionMinutes * 60_000, now });
  return { connection, sessions };
};

/**
 * Task Tokens created with the stored API key, which is read again for each, and with the client identifier.
 * `current` throws NotConfigured, ProviderErrors and the SDK's errors.
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
