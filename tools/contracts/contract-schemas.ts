import { defined } from '../../lib/defined.ts';
import { busEventSchema, eventSchema } from './event-schemas.ts';
import type { Schema } from './json-schema-type.ts';
import { recordSchema } from './record-schema.ts';
import { streamRecordSchema } from './stream-record-schema.ts';

/**
 * A validator resolves `extraction.json` against the `$id` of the schema that refers to it. Python's resolves relative references of
 * few URI schemes only, so it is https, of a domain that nobody can own (RFC 2606). Nothing is fetched from it.
 */
export const schemaBase = 'https://cosecha.example/schemas/';

const inPascalCase = (name: string): string =>
  name.replace(/(?:^|[-_])(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Of what has a form of its own, of which a generator makes a model. A reference has the title of what it refers to. */
const needsTitle = ({ $ref, type, enum: values, anyOf, allOf }: Schema): boolean =>
  $ref === undefined && (['object', 'array'].includes(type ?? '') || Boolean(values ?? anyOf ?? allOf));

/** A schema in which each part that needs one has a title, from where it stands. Generators would number the others. */
const withTitles = (schema: Schema, title: string): Schema => {
  const { $defs, properties, items, anyOf, allOf } = schema;
  const parts = (given: Readonly<Record<string, Schema>>, prefix: string) =>
    Object.fromEntries(
      Object.entries(given).map(([name, part]) => [name, withTitles(part, prefix + inPascalCase(name))]),
    );
  const numbered = (all: readonly Schema[], word: string) =>
    all.map((part, index) => withTitles(part, `${title}${word}${index + 1}`));
  return {
    ...(needsTitle(schema) ? { title } : {}),
    ...schema,
    ...defined({
      $defs: $defs && parts($defs, ''),
      properties: properties && parts(properties, title),
      items: items && withTitles(items, `${title}Item`),
      anyOf: anyOf && numbered(anyOf, 'Option'),
      allOf: allOf && numbered(allOf, 'Part'),
    }),
  };
};

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
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $id: `${schemaBase}${name}`,
        ...withTitles(schema, inPascalCase(name.replace('.json', ''))),
      },
    ]),
  );
};
