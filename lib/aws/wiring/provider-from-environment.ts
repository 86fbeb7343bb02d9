import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as v from 'valibot';
import { telemetry } from '../../observability/powertools-telemetry.ts';
import {
  cacheSessionTokens,
  logIn,
  type SessionTokens,
  type WithApiKey,
} from '../../provider/tokens/session-tokens.ts';
import { cacheTaskTokens, createTaskToken, type TaskTokens } from '../../provider/tokens/task-tokens.ts';
import { ProviderUnauthorized } from '../../provider/transport/errors.ts';
import { freshConnectionFetch } from '../../provider/transport/fresh-connection-fetch.ts';
import type { Connection, Method } from '../../provider/transport/send-request.ts';
import { readSecret } from '../read-secret.ts';
import { neededSetting, requiredVariable } from './environment.ts';

const timeoutsSchema = v.strictObject({ connect: v.number(), total: v.number() });

/** In milliseconds. */
type ProviderTimeouts = Readonly<v.InferOutput<typeof timeoutsSchema>>;

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

/** Parses the environment variable `PROVIDER_ENDPOINTS`. `infra/settings/settings.ts` has already checked its form. */
const parseEndpoints = (json: string): NonNullable<Connection['endpoints']> =>
  Object.fromEntries(
    Object.entries(JSON.parse(json) as Record<string, string>).map(([name, text]) => {
      const [method, path = ''] = text.split(' ');
      return [name, { method: method as Method, path }];
    }),
  );

export const connectionFromEnvironment = (maxAnswerBytes: number): Connection => ({
  ...createConnection(
    requiredVariable('PROVIDER_BASE_URL'),
    parseProviderTimeouts(requiredVariable('PROVIDER_TIMEOUTS')),
    maxAnswerBytes,
  ),
  endpoints: parseEndpoints(requiredVariable('PROVIDER_ENDPOINTS')),
});

/** How long a process uses an API key after reading it. */
const usableMs = 5 * 60_000;

/**
 * Makes calls with the API key from Secrets Manager, and keeps the key. So create one for each process. A rotated key needs no deployment:
 * a 401 for a kept key reads it again, and the call is made once more if the key has changed. Throws NotConfigured, the SDK's errors, and
 * what the call throws.
 */
export const apiKeyFromEnvironment = (secrets: SecretsManagerClient, now: () => Date): WithApiKey => {
  const secretName = requiredVariable('PROVIDER_API_KEY_SECRET');
  let kept: { readonly apiKey: string; readonly usableUntil: number } | undefined;

  const read = async (): Promise<string> => {
    const readAt = now().getTime();
    const apiKey = await readSecret(secrets, secretName);
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

/** The connection to the provider, and session tokens from logins with the API key. */
export const providerFromEnvironment = (
  withApiKey: WithApiKey,
  {
    now,
    maxAnswerBytes,
    encryptRawCredentials = false,
    maxCallMs = Number.POSITIVE_INFINITY,
  }: {
    readonly now: () => Date;
    /** The longest time of a call, if the provider's timeout is longer. */
    readonly maxCallMs?: number;
  } & Pick<Connection, 'maxAnswerBytes' | 'encryptRawCredentials'>,
): { readonly connection: Connection; readonly sessions: SessionTokens } => {
  const sessionMinutes = Number(requiredVariable('SESSION_MINUTES'));
  const base = connectionFromEnvironment(maxAnswerBytes);
  const totalTimeoutMs = Math.min(base.totalTimeoutMs, maxCallMs);
  const connection = { ...base, totalTimeoutMs, encryptRawCredentials };
  const logInWithKey = async () => {
    const token = await withApiKey((apiKey) => logIn(connection, apiKey, sessionMinutes));
    telemetry.count('LoggedIn');
    return token;
  };
  const sessions = cacheSessionTokens({
    logIn: logInWithKey,
    lifetimeMs: sessionMinutes * 60_000,
    now,
    onRefused: () => telemetry.count('SessionRefused'),
  });
  return { connection, sessions };
};

/**
 * Task Tokens created with the API key and the client identifier. `current` throws NotConfigured, ProviderErrors and the
 * SDK's errors.
 */
export const taskTokensFromEnvironment = (
  withApiKey: WithApiKey,
  connection: Connection,
  now: () => Date,
): TaskTokens =>
  cacheTaskTokens({
    create: async (target) => {
      const clientId = neededSetting('PROVIDER_CLIENT_ID', 'providerClientId');
      const { taskToken } = await withApiKey((apiKey) =>
        createTaskToken(connection, apiKey, { target, clientId }),
      );
      return taskToken;
    },
    lifetimeMs: Number(requiredVariable('TASK_TOKEN_MINUTES')) * 60_000,
    now,
  });
