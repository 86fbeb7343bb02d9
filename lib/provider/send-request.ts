import { ambiguousClientStatus, notTakenStatus } from './assumptions.ts';
import {
  ProviderAmbiguous,
  ProviderAnswerTooLarge,
  ProviderBusy,
  ProviderError,
  ProviderRefused,
  ProviderUnauthorized,
  ProviderUnreachable,
} from './errors.ts';
import { wasNeverSent } from './was-never-sent.ts';

/** The part of the Fetch standard that the client needs; `globalThis.fetch` and undici's both fit. */
export type Fetch = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body?: string;
    readonly redirect: 'manual';
    readonly signal: AbortSignal;
  },
) => Promise<{
  readonly status: number;
  readonly body: (AsyncIterable<Uint8Array> & { cancel(): Promise<void> }) | null;
}>;

export type Connection = {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly fetch: Fetch;
  /** From the call to the last byte of the answer, in milliseconds. The connect limit is `fetch`'s own. */
  readonly totalTimeoutMs: number;
  readonly maxAnswerBytes: number;
};

export type ProviderRequest = {
  readonly method: 'GET' | 'POST';
  /** Starts with a slash; every parameter in it is encoded already. */
  readonly path: string;
  /** The path without its parameters, for messages. */
  readonly route: string;
  readonly headers: Record<string, string>;
  readonly body?: unknown;
};

const readCapped = async (
  body: AsyncIterable<Uint8Array> | null,
  cap: number,
  call: string,
): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > cap)
      throw new ProviderAnswerTooLarge(`The provider's answer to ${call} is over ${cap} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

const statusError = (status: number, call: string): ProviderError => {
  const message = `The provider answered ${status} to ${call}.`;
  if (status === 401) return new ProviderUnauthorized(message);
  if (status === notTakenStatus) return new ProviderBusy(message);
  if (status >= 400 && status < 500 && status !== ambiguousClientStatus) {
    return new ProviderRefused(message, status);
  }
  return new ProviderAmbiguous(message);
};

/**
 * Makes one call and returns the bytes of its 2xx answer, exactly as received. Never follows a redirect: it
 * would carry credentials along. Throws a ProviderError and nothing else.
 */
export const sendRequest = async (connection: Connection, request: ProviderRequest): Promise<Uint8Array> => {
  const call = `${request.method} ${request.route}`;
  try {
    const answer = await connection.fetch(`${connection.baseUrl}${request.path}`, {
      method: request.method,
      headers: {
        accept: 'application/json',
        ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...request.headers,
      },
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(connection.totalTimeoutMs),
    });
    if (answer.status < 200 || answer.status >= 300) {
      // The status alone decides; the body may be anything, and is never read, kept or quoted.
      answer.body?.cancel().catch(() => {});
      throw statusError(answer.status, call);
    }
    return await readCapped(answer.body, connection.maxAnswerBytes, call);
  } catch (error) {
    if (error instanceof ProviderError) throw error;
    if (wasNeverSent(error)) {
      throw new ProviderUnreachable(`The provider could not be reached for ${call}.`, { cause: error });
    }
    throw new ProviderAmbiguous(`The provider's answer to ${call} was lost.`, { cause: error });
  }
};
