import { busEventSchema, eventSchema } from './event-schemas.ts';
import { recordSchema } from './record-schema.ts';
import type { Schema } from './schema.ts';
import { streamRecordSchema } from './stream-record-schema.ts';

const dialect = { $schema: 'https://json-schema.org/draft/2020-12/schema' };

/** The schemas in docs/schemas, by file name. They refer to one another by file name. */
export const contractSchemas = (): Readonly<Record<string, Schema>> => {
  const record = recordSchema();
  return {
    'extraction.json': { ...dialect, ...record },
    'stream-record.json': { ...dialect, ...streamRecordSchema(record) },
    'event.json': { ...dialect, ...eventSchema },
    'bus-event.json': { ...dialect, ...busEventSchema },
  };
};
