import { busEventSchema, eventSchema } from './event-schemas.ts';
import type { Schema } from './json-schema-type.ts';
import { recordSchema } from './record-schema.ts';
import { streamRecordSchema } from './stream-record-schema.ts';

/**
 * A validator resolves `extraction.json` against the `$id` of the schema that refers to it. Python's resolves relative references of
 * few URI schemes only, so it is https, of a domain that nobody can own (RFC 2606). Nothing is fetched from it.
 */
export const schemaBase = 'https://cosecha.example/schemas/';

/** The schemas in docs/schemas, by file name. They refer to one another by file name. */
export const contractSchemas = (): Readonly<Record<string, Schema>> => {
  const record = recordSchema();
  const schemas = {
    'extraction.json': record,
    'stream-record.json': streamRecordSchema(record),
    'event.json': eventSchema,
    'bus-event.json': busEventSchema,
  };
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      { $schema: 'https://json-schema.org/draft/2020-12/schema', $id: `${schemaBase}${name}`, ...schema },
    ]),
  );
};
