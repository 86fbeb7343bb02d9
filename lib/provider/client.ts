/** Only in the published client (docs/provider-client.md). */

import type { ClientContext } from './client-context.ts';
import { consentCalls } from './consents/consent-calls.ts';
import { legacyCalls } from './legacy/legacy-calls.ts';
import { taskCalls } from './tasks/task-calls.ts';
import { cacheSessionTokens, logIn } from './tokens/session-tokens.ts';
import { tokenCalls } from './tokens/token-calls.ts';
import type { Fetch } from './transport/fetch-type.ts';
import { freshConnectionFetch } from './transport/fresh-connection-fetch.ts';
import type { Connection } from './transport/send-request.ts';

export type ProviderClientOptions = {
  readonly baseUrl: string;
  /** The key, or a function that is called before every call that needs it. */
  readonly apiKey: string | (() => Promise<string>);
  /** "Client identifier", supplied by the provider's account contact. */
  readonly clientId: string;
  /** Default: `freshConnectionFetch`, which opens a new connection for every call. */
  readonly fetch?: Fetch;
  /** For DNS, TCP and TLS, in milliseconds. Only for the default `fetch`. Default 3,000. */
  readonly connectTimeoutMs?: number;
  /** From the call to the last byte of its answer, in milliseconds. Default 20,000. */
  readonly totalTimeoutMs?: number;
  /** Default 32 MiB. Movements of one account over months take about 100 KiB. */
  readonly maxAnswerBytes?: number;
  /** The `expire` of a login. Default 60. */
  readonly sessionMinutes?: number;
  /** See `Connection`. Default false. */
  readonly encryptRawCredentials?: boolean;
  /** Replaces assumed endpoints (see `notShownEndpoints`). */
  readonly endpoints?: NonNullable<Connection['endpoints']>;
  readonly now?: () => Date;
};

export type ProviderClient = ReturnType<typeof createProviderClient>;

/**
 * A client for the whole API of the provider. It caches the session token with a margin, shares it between concurrent
 * calls, and renews it once after a 401. Every call throws ProviderErrors, and what `apiKey` throws.
 *
 * @example
 * import { createProviderClient } from '@cosecha/cosecha/provider';
 *
 * const provider = createProviderClient({
 *   baseUrl: 'https://provider.example',
 *   clientId: 'client-1',
 *   apiKey: async () => process.env.PROVIDER_API_KEY ?? '',
 * });
 * console.log(await provider.listEntities());
 */
export const createProviderClient = (options: ProviderClientOptions) => {
  const { apiKey: key, clientId, endpoints, sessionMinutes = 60, now = () => new Date() } = options;
  const connection: Connection = {
    baseUrl: options.baseUrl.replace(/\/+$/, ''),
    fetch: options.fetch ?? freshConnectionFetch(options.connectTimeoutMs ?? 3_000),
    totalTimeoutMs: options.totalTimeoutMs ?? 20_000,
    maxAnswerBytes: options.maxAnswerBytes ?? 32 * 1024 * 1024,
    encryptRawCredentials: options.encryptRawCredentials ?? false,
    ...(endpoints === undefined ? {} : { endpoints }),
  };
  const apiKey = async () => (typeof key === 'string' ? key : key());
  const context: ClientContext = {
    connection,
    apiKey,
    clientId,
    sessions: cacheSessionTokens({
      logIn: async () => logIn(connection, await apiKey(), sessionMinutes),
      lifetimeMs: sessionMinutes * 60_000,
      now,
    }),
    waiting: (waitOptions) => ({ now, ...waitOptions }),
  };
  return {
    ...tokenCalls(context),
    ...consentCalls(context),
    ...taskCalls(context),
    ...legacyCalls(context),
  };
};
