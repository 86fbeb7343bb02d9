import * as v from 'valibot';
import { notShownEndpoints, requestTimeout, tooManyRequests } from '../assumptions.ts';
import {
  InvalidProviderRequest,
  type NoAnswer,
  ProviderAmbiguous,
  ProviderAnswerTooLarge,
  ProviderBusy,
  ProviderError,
  ProviderRefused,
  ProviderUnauthorized,
  ProviderUnreachable,
} from './errors.ts';
import type { Fetch } from './fetch-type.ts';
import { checkRequest, idsInPath } from './field-schemas.ts';
import { parseRetryAfter } from './retry-after.ts';
import { TransportFailure, wasNeverSent } from './transport-failure.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The parameters of the path are in braces, as in the document. */
export type Endpoint = { readonly method: Method; readonly path: string };

export type Connection = {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly fetch: Fetch;
  /** From the call to the last byte of the answer, in milliseconds. `fetch` limits the connect. */
  readonly totalTimeoutMs: number;
  readonly maxAnswerBytes: number;
  /**
   * Sends raw credentials of v2 tasks encrypted under the session token of the call. Default false, because the
   * provider must activate it for the client ("Encryption scheme", rule 5).
   */
  readonly encryptRawCredentials?: boolean;
  /** Replaces assumed endpoints (see `notShownEndpoints`). */
  readonly endpoints?: { readonly [Name in keyof typeof notShownEndpoints]?: Endpoint };
};

/** Returns an endpoint that the document does not show: from the connection's setting, or else the assumption. */
export const endpointOf = (connection: Connection, name: keyof typeof notShownEndpoints): Endpoint =>
  connection.endpoints?.[name] ?? notShownEndpoints[name];

/** Messages contain the method and the path with its parameters in braces, and no value. */
export type ProviderRequest = Endpoint & {
  /** The values of the parameters in the path. */
  readonly ids?: { readonly consentId?: string; readonly taskId?: string };
  /** A parameter that is undefined is left out. */
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly headers: Record<string, string>;
  readonly body?: unknown;
  /**
   * Returns the error in the body of a non-2xx answer, or undefined if the status decides. Without this function such a
   * body is not read.
   */
  readonly explain?: (status: number, body: Uint8Array, call: string) => ProviderError | undefined;
  /** Only answers with these statuses are explained, from the beginning of their bodies. Default: all, unless over 64 KiB. */
  readonly explainOnly?: readonly number[];
  /** Called when the provider has answered with a status that is not 2xx, before the body is read. */
  readonly whenRefused?: (() => void) | undefined;
};

type ProviderAnswer = { readonly status: number; readonly bytes: Uint8Array };

/** Parses the bytes of an answer as JSON. It may leave out what the answer's schema does not read. */
export type ParseBytes = (bytes: Uint8Array) => unknown;

type Answer = Awaited<ReturnType<Fetch>>;

/** A refusal has a few words. A longer body is not read to its end. */
const maxRefusalBytes = 65_536;

/** Enough for all answers except results. */
const usualBytes = 65_536;

/**
 * Reads a body into one buffer. Joining chunks would need twice the size of the results. A buffer of `cap` bytes takes only as much memory
 * as is written to it, because the operating system supplies each page at its first write.
 */
const readCapped = async (
  { status, body }: Pick<Answer, 'status' | 'body'>,
  cap: number,
  call: string,
): Promise<Uint8Array> => {
  let bytes = Buffer.allocUnsafeSlow(Math.min(cap, usualBytes));
  let size = 0;
  for await (const chunk of body ?? []) {
    const needed = size + chunk.byteLength;
    if (needed > cap) {
      throw new ProviderAnswerTooLarge(`The provider's answer to ${call} is over ${cap} bytes.`, status);
    }
    if (needed > bytes.byteLength) {
      const larger = Buffer.allocUnsafeSlow(cap);
      larger.set(bytes.subarray(0, size));
      bytes = larger;
    }
    bytes.set(chunk, size);
    size = needed;
  }
  return bytes.subarray(0, size);
};

/** How much of a refusal's body is read at most, and for how long. A start waits for it. */
const beginning = { bytes: 4_096, milliseconds: 2_000 };

/** Reads the beginning of a body. Never throws, and returns what has arrived. */
const readBeginning = async ({ body }: Pick<Answer, 'body'>): Promise<Uint8Array> => {
  const { bytes, milliseconds } = beginning;
  const chunks: Uint8Array[] = [];
  const read = async () => {
    let size = 0;
    for await (const chunk of body ?? []) {
      chunks.push(chunk);
      size += chunk.byteLength;
      if (size >= bytes) return;
    }
  };
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  // If the connection breaks, the part that has arrived is returned.
  await Promise.race([read().catch(() => {}), timeout]);
  clearTimeout(timer);
  body?.cancel().catch(() => {});
  return Buffer.concat(chunks).subarray(0, bytes);
};

export const statusError = (
  status: number,
  call: string,
): ProviderUnauthorized | ProviderBusy | ProviderRefused | ProviderAmbiguous => {
  const message = `The provider answered ${status} to ${call}.`;
  if (status === 401) return new ProviderUnauthorized(message);
  if (status === tooManyRequests) return new ProviderBusy(message);
  if (status >= 400 && status < 500 && status !== requestTimeout) {
    return new ProviderRefused(message, status);
  }
  return new ProviderAmbiguous(message, { status });
};

const explained = async (
  answer: Answer,
  request: ProviderRequest,
  call: string,
): Promise<ProviderError | undefined> => {
  const { explain, explainOnly, whenRefused } = request;
  whenRefused?.();
  if (explain === undefined || explainOnly?.includes(answer.status) === false) {
    // Only the status counts, so the body is never read.
    answer.body?.cancel().catch(() => {});
    return undefined;
  }
  try {
    const body = await (explainOnly === undefined
      ? readCapped(answer, maxRefusalBytes, call)
      : readBeginning(answer));
    return explain(answer.status, body, call);
  } catch {
    // If the body cannot be read, only the status counts.
    return undefined;
  }
};

const pathOf = ({ path, ids = {}, query = {} }: ProviderRequest): string => {
  checkRequest(idsInPath, ids, path);
  const filled = Object.entries(ids).reduce(
    (rest, [name, id]) => rest.replace(`{${name}}`, () => encodeURIComponent(id)),
    path,
  );
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.append(name, String(value));
  }
  return parameters.size === 0 ? filled : `${filled}?${parameters}`;
};

const jsonOf = (body: unknown, call: string): string => {
  try {
    return JSON.stringify(body);
  } catch {
    // The error of JSON.stringify contains names of the request's fields, so it is dropped.
    throw new InvalidProviderRequest(call, [{ path: '', rule: 'cannot be written as JSON' }]);
  }
};

/**
 * Makes one call and returns the status and bytes of its 2xx answer, as received. It never follows a redirect, which would send credentials
 * elsewhere. Throws only ProviderErrors.
 */
export const exchange = async (connection: Connection, request: ProviderRequest): Promise<ProviderAnswer> => {
  const call = `${request.method} ${request.path}`;
  const url = `${connection.baseUrl}${pathOf(request)}`;
  const body = request.body === undefined ? undefined : jsonOf(request.body, call);
  const signal = AbortSignal.timeout(connection.totalTimeoutMs);
  try {
    const answer = await connection.fetch(url, {
      method: request.method,
      headers: {
        accept: 'application/json',
        // Without this header the server may compress (RFC 9110, section 12.5.3), and nothing here decompresses.
        'accept-encoding': 'identity',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...request.headers,
      },
      ...(body === undefined ? {} : { body }),
      redirect: 'manual',
      signal,
    });
    const { status } = answer;
    if (status >= 200 && status < 300) {
      return { status, bytes: await readCapped(answer, connection.maxAnswerBytes, call) };
    }
    const explanation = await explained(answer, request, call);
    const failure: ProviderError = explanation ?? statusError(status, call);
    const retryAfter = parseRetryAfter(answer.headers?.get('retry-after'));
    if (retryAfter !== undefined) failure.retryAfter = retryAfter;
    throw failure;
  } catch (error) {
    if (error instanceof ProviderError) throw error;
    const cause = new TransportFailure(error);
    if (wasNeverSent(error)) {
      throw new ProviderUnreachable(`The provider could not be reached for ${call}.`, { cause });
    }
    const reason = signal.aborted ? 'timeout' : 'reset';
    throw new ProviderAmbiguous(`The provider's answer to ${call} was lost.`, { cause, reason });
  }
};

/**
 * Parses bytes as JSON. A leading byte order mark is ignored, which RFC 8259 (section 8.1) allows. Throws JSON.parse's
 * error, which quotes its input.
 */
export const parseJson = (bytes: Uint8Array): unknown => {
  // A view, not a copy, because results can have 20 MiB.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text);
};

/**
 * @internal Left out of the published types, which then need no valibot.
 *
 * Parses and validates an answer. Schemas should accept unknown fields. Throws ProviderAmbiguous without a `cause`,
 * because the errors of JSON.parse and valibot quote their input.
 */
export const parseAnswer = <T>(
  bytes: Uint8Array,
  schema: v.GenericSchema<unknown, T>,
  path: string,
  parse: ParseBytes = parseJson,
): T => {
  const unreadable = (reason: NoAnswer) =>
    new ProviderAmbiguous(`The provider's answer to ${path} could not be understood.`, { reason });
  let json: unknown;
  try {
    json = parse(bytes);
  } catch {
    throw unreadable('not-json');
  }
  const parsed = v.safeParse(schema, json);
  if (!parsed.success) throw unreadable('unexpected-answer');
  return parsed.output;
};

/** @internal Makes one call and returns its validated answer. Throws ProviderErrors. */
export const requestAnswer = async <T>(
  connection: Connection,
  schema: v.GenericSchema<unknown, T>,
  request: ProviderRequest,
): Promise<T> => parseAnswer((await exchange(connection, request)).bytes, schema, request.path);
