import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { schemaBase } from '../../../tools/contracts/contract-schemas.ts';
import { mapValues, type Schema } from '../../../tools/contracts/json-schema-type.ts';
import { internalAttributes } from '../../../tools/contracts/record-schema.ts';
import { kinds } from '../../../tools/contracts/stream-record-schema.ts';

const folder = new URL('../../../docs/schemas/', import.meta.url);

/** The published schemas, by file name. */
export const publishedSchemas: Readonly<Record<string, Schema>> = Object.fromEntries(
  ['extraction.json', 'stream-record.json', 'event.json', 'bus-event.json'].map((name) => [
    name,
    JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Schema,
  ]),
);

/** The parts that have no attributes of a record. */
const open = new Set(['Record', ...Object.keys(kinds)]);

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null;

/** The schema without what it leaves open for later versions: unknown attributes and values. */
const closed = (schema: Schema): Schema => {
  const inner = Object.fromEntries(
    Object.entries(schema).map(([keyword, argument]) => {
      if (keyword === 'properties' || keyword === '$defs')
        return [keyword, mapValues(argument as Readonly<Record<string, Schema>>, closed)];
      if (keyword === 'anyOf') {
        const known = (argument as readonly Schema[]).filter(
          (one) => !one.description?.includes('later version'),
        );
        return [keyword, known.map(closed)];
      }
      return [keyword, isSchema(argument) && keyword === 'items' ? closed(argument) : argument];
    }),
  ) as Schema;
  if (inner.type !== 'object') return inner;
  const internal = inner.properties?.extractionId === undefined ? [] : internalAttributes;
  const properties = { ...Object.fromEntries(internal.map((name) => [name, {}])), ...inner.properties };
  return { ...inner, properties, additionalProperties: false };
};

const closedSchemas = mapValues(publishedSchemas, (schema) => ({
  ...closed({ ...schema, $defs: {} }),
  $defs: Object.fromEntries(
    Object.entries(schema.$defs ?? {}).map(([name, one]) => [name, open.has(name) ? one : closed(one)]),
  ),
}));

const validatorOf = (schemas: Readonly<Record<string, Schema>>) => {
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema(Object.values(schemas));
  return (reference: string, value: unknown): readonly string[] => {
    const validate = ajv.getSchema(`${schemaBase}${reference}`);
    if (validate === undefined) throw new Error(`docs/schemas has no ${reference}.`);
    validate(value);
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
};

/** What a value breaks of a published schema, such as `stream-record.json#/$defs/settled`. */
export const schemaViolations = validatorOf(publishedSchemas);

/** The same without what the schema leaves open for later versions, as this version must write its records. */
export const closedSchemaViolations = validatorOf(closedSchemas);
