/** Only in the published client (docs/provider-client.md). */

import { getConsent } from './consents/get-consent.ts';
import { getConsentPdf } from './consents/get-consent-pdf.ts';
import { iterateConsents, listConsents } from './consents/list-consents.ts';
import { revokeConsent } from './consents/revoke-consent.ts';
import { encryptCredentials } from './encrypt-and-decrypt.ts';
import {
  pollExtraction,
  pollExtractionV2,
  waitForExtraction,
  waitForExtractionV2,
} from './extractions/poll-extraction.ts';
import { retrieveData } from './extractions/retrieve-data.ts';
import {
  type StartExtractionRequest,
  startExtraction,
  startExtractionV2,
} from './extractions/start-extraction.ts';
import {
  type Entity,
  getUserStatus,
  type LegacyTaskReading,
  type LegacyTaskRequest,
  listEntities,
  pollLegacyTask,
  startLegacyTask,
  type UserStatus,
  type UserStatusRequest,
  waitForLegacyTask,
} from './legacy.ts';
import { type ProviderTask, readTypedTask, waitForTask } from './tasks/read-typed-task.ts';
import { checkTaskRequest, startTask, type TaskRequest } from './tasks/start-task.ts';
import {
  createLegalPersonOtpToken,
  createOtpToken,
  type LegalPersonOtpTokenRequest,
  type OtpToken,
  type OtpTokenRequest,
} from './tokens/create-otp-token.ts';
import { cacheSessionTokens, logIn, type SessionTokens, withSession } from './tokens/session-tokens.ts';
import { createTaskToken, type TaskToken } from './tokens/task-tokens.ts';
import type { Fetch } from './transport/fetch-type.ts';
import { freshConnectionFetch } from './transport/fresh-connection-fetch.ts';
import type { Connection } from './transport/send-request.ts';
import type { WaitOptions } from './transport/wait-until.ts';
import type { Preset } from './vocabulary.ts';

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

/** The dependencies that the parts of the client share. */
type ClientContext = {
  readonly connection: Connection;
  /** Called before every call that needs the key, so that a rotated key is used. */
  readonly apiKey: () => Promise<string>;
  readonly clientId: string;
  readonly sessions: SessionTokens;
  /** Adds the client's clock to the options of a wait that have none. */
  readonly waiting: (options?: WaitOptions) => WaitOptions;
};

/** The part of a Task Token that a call needs. */
type WithTaskToken = Pick<TaskToken, 'taskToken'>;

/** "Session token", "Create OTP token", "Create Task Token". */
const tokenCalls = ({ connection, apiKey, clientId, sessions }: ClientContext) => {
  const taskTokenFor = async (target: string): Promise<TaskToken> =>
    createTaskToken(connection, await apiKey(), { target, clientId });

  return {
    /** Returns the current session token, for `encryptCredentials`. Logs in if there is none. */
    sessionToken: (): Promise<string> => sessions.current(),

    /** For a natural person. */
    createOtpToken: async (request: Omit<OtpTokenRequest, 'clientId'>): Promise<OtpToken> =>
      createOtpToken(connection, await apiKey(), { ...request, clientId }),

    /** For a legal person. */
    createLegalPersonOtpToken: async (
      request: Omit<LegalPersonOtpTokenRequest, 'clientId'>,
    ): Promise<OtpToken> => createLegalPersonOtpToken(connection, await apiKey(), { ...request, clientId }),

    /** Creates a Task Token for one user. Its lifetime is not shown, so use it until it is refused. */
    createTaskToken: taskTokenFor,

    /**
     * Makes a call with a Task Token for `target`. If the provider refuses the token, the whole call is made once more with a new one. So
     * the call must be safe to repeat, as a wait is.
     */
    withTaskToken: <T>(target: string, call: (token: TaskToken) => Promise<T>): Promise<T> =>
      withSession({ current: () => taskTokenFor(target), drop: () => undefined }, call),
  };
};

const consentCalls = ({ connection, waiting }: ClientContext) => {
  const withToken =
    <Rest extends readonly unknown[], Answer>(
      call: (connection: Connection, taskToken: string, ...rest: Rest) => Answer,
    ) =>
    ({ taskToken }: WithTaskToken, ...rest: Rest): Answer =>
      call(connection, taskToken, ...rest);
  return {
    listConsents: withToken(listConsents),
    iterateConsents: withToken(iterateConsents),
    getConsent: withToken(getConsent),
    getConsentPdf: withToken(getConsentPdf),
    revokeConsent: withToken(revokeConsent),

    startExtraction: ({ taskToken }: WithTaskToken, request: StartExtractionRequest): Promise<string> =>
      startExtraction(connection, taskToken, request),
    pollExtraction: withToken(pollExtraction),
    waitForExtraction: ({ taskToken }: WithTaskToken, taskId: string, options?: WaitOptions) =>
      waitForExtraction(connection, taskToken, taskId, waiting(options)),
    /** @deprecated In favour of `startExtraction` and `waitForExtraction`. */
    retrieveData: withToken(retrieveData),

    startExtractionV2: ({ taskToken }: WithTaskToken, request: StartExtractionRequest): Promise<string> =>
      startExtractionV2(connection, taskToken, request),
    pollExtractionV2: withToken(pollExtractionV2),
    waitForExtractionV2: ({ taskToken }: WithTaskToken, taskId: string, options?: WaitOptions) =>
      waitForExtractionV2(connection, taskToken, taskId, waiting(options)),
  };
};

/** "Start task (v2)", "Read task (v2)". */
const taskCalls = ({ connection, sessions, waiting }: ClientContext) => ({
  /**
   * Sends credentials of mode `encrypted` only with the session token under which they are encrypted: `sessionToken`, or else the current
   * one. After a 401, which started nothing, other requests are sent once more with a new token.
   */
  startTask: async (request: TaskRequest, sessionToken?: string): Promise<string> => {
    // The request is checked before the login, so that an invalid one needs none.
    checkTaskRequest(request);
    if (sessionToken !== undefined || request.credentials.mode === 'encrypted') {
      return startTask(connection, sessionToken ?? (await sessions.current()), request);
    }
    return withSession(sessions, (token) => startTask(connection, token, request));
  },

  readTask: (taskId: string): Promise<ProviderTask> =>
    withSession(sessions, (token) => readTypedTask(connection, token, taskId)),

  waitForTask: (taskId: string, options?: WaitOptions): Promise<ProviderTask> =>
    waitForTask(connection, sessions, taskId, waiting(options)),
});

/** The input of a legacy start. The credentials are encrypted under the session token that they are sent with. */
export type LegacyTaskInput = Omit<LegacyTaskRequest, 'encryptArgs'> & {
  readonly credentials: Readonly<Record<string, unknown>>;
};

/** "Legacy v1 task API". */
const legacyCalls = ({ connection, sessions, waiting }: ClientContext) => ({
  startLegacyTask: ({ credentials, ...request }: LegacyTaskInput, preset?: Preset): Promise<string> =>
    withSession(sessions, (token) => {
      const encryptArgs = encryptCredentials(credentials, token);
      return startLegacyTask(connection, token, { ...request, encryptArgs }, preset);
    }),

  pollLegacyTask: (taskId: string, preset?: Preset): Promise<LegacyTaskReading> =>
    withSession(sessions, (token) => pollLegacyTask(connection, token, taskId, preset)),

  waitForLegacyTask: (taskId: string, options?: WaitOptions): Promise<LegacyTaskReading> =>
    waitForLegacyTask(connection, sessions, taskId, waiting(options)),

  listEntities: (preset?: Preset): Promise<readonly Entity[]> =>
    withSession(sessions, (token) => listEntities(connection, token, preset)),

  getUserStatus: (request: UserStatusRequest, preset?: Preset): Promise<UserStatus> =>
    withSession(sessions, (token) => getUserStatus(connection, token, request, preset)),
});

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
