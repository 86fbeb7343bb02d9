import * as v from 'valibot';
import { ProviderAmbiguous } from './errors.ts';

/**
 * Validates an answer as loosely as `schema` says; unknown fields should pass. Throws ProviderAmbiguous.
 * Neither JSON.parse's error nor valibot's becomes the `cause`: both quote what they read.
 */
export const parseAnswer = <T>(bytes: Uint8Array, schema: v.GenericSchema<unknown, T>, route: string): T => {
  const unreadable = () =>
    new ProviderAmbiguous(`The provider's answer to ${route} could not be understood.`);
  let json: unknown;
  try {
    // A view, not a copy: results may be of 20 MiB.
    json = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  } catch {
    throw unreadable();
  }
  const parsed = v.safeParse(schema, json);
  if (!parsed.success) throw unreadable();
  return parsed.output;
};
