import * as v from 'valibot';
import { type NoAnswer, ProviderAmbiguous } from './errors.ts';
import { type Connection, type ParseBytes, type ProviderRequest, sendRequest } from './send-request.ts';

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
 * Parses and validates an answer. Schemas should accept unknown fields. Throws ProviderAmbiguous without a `cause`,
 * because the errors of JSON.parse and valibot quote their input.
 */
export const parseAnswer = <T>(
  bytes: Uint8Array,
  schema: v.GenericSchema<unknown, T>,
  route: string,
  parse: ParseBytes = parseJson,
): T => {
  const unreadable = (reason: NoAnswer) =>
    new ProviderAmbiguous(`The provider's answer to ${route} could not be understood.`, { reason });
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

/** Makes one call and returns its validated answer. Throws ProviderErrors. */
export const requestAnswer = async <T>(
  connection: Connection,
  schema: v.GenericSchema<unknown, T>,
  request: ProviderRequest,
): Promise<T> => parseAnswer(await sendRequest(connection, request), schema, request.route);
