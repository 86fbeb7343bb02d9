import * as v from 'valibot';
import { ProviderAmbiguous } from './errors.ts';
import { type Connection, type ProviderRequest, sendRequest } from './send-request.ts';

/**
 * JSON of bytes. A byte order mark before it is ignored, as RFC 8259 (section 8.1) lets a reader do. Throws
 * JSON.parse's error, which quotes what it read.
 */
export const parseJson = (bytes: Uint8Array): unknown => {
  // A view, not a copy: results may be of 20 MiB.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text);
};

/**
 * Validates an answer as loosely as `schema` says; unknown fields should pass. Throws ProviderAmbiguous.
 * Neither JSON.parse's error nor valibot's becomes the `cause`: both quote what they read.
 */
export const parseAnswer = <T>(bytes: Uint8Array, schema: v.GenericSchema<unknown, T>, route: string): T => {
  const unreadable = () =>
    new ProviderAmbiguous(`The provider's answer to ${route} could not be understood.`);
  let json: unknown;
  try {
    json = parseJson(bytes);
  } catch {
    throw unreadable();
  }
  const parsed = v.safeParse(schema, json);
  if (!parsed.success) throw unreadable();
  return parsed.output;
};

/** Makes one call and returns its answer, validated. Throws a ProviderError. */
export const requestAnswer = async <T>(
  connection: Connection,
  schema: v.GenericSchema<unknown, T>,
  request: ProviderRequest,
): Promise<T> => parseAnswer(await sendRequest(connection, request), schema, request.route);
