import { defined } from '../../lib/defined.ts';
import { mapValues, type Schema } from './schema.ts';

/**
 * The schema of a record in the JSON of DynamoDB, such as `NewImage`, from the schema of the record itself. In that JSON every
 * value is in an object that names its type
 * (https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_AttributeValue.html).
 */
export const imageSchema = (record: Schema): Schema => ({
  ...record,
  properties: mapValues(record.properties ?? {}, valueSchema),
});

/** The schema of one value in the JSON of DynamoDB. Throws a RangeError for a type that no record has. */
export const valueSchema = (schema: Schema): Schema => {
  if (schema.$ref !== undefined) return schema;
  if (schema.anyOf !== undefined) return { ...schema, anyOf: schema.anyOf.map(valueSchema) };
  const { description, ...value } = schema;
  const typed = (name: string, inner: Schema): Schema =>
    defined({ description, type: 'object', required: [name], properties: { [name]: inner } });
  switch (value.type) {
    case 'string':
      return typed('S', value);
    case 'boolean':
      return typed('BOOL', value);
    case 'integer':
      return typed(
        'N',
        value.const === undefined ? { type: 'string', pattern: '^\\d+$' } : { const: String(value.const) },
      );
    case 'array':
      return typed('L', { ...value, items: valueSchema(value.items ?? {}) });
    case 'object':
      return typed('M', imageSchema(value));
    default:
      throw new RangeError(`A record has no value of the type ${value.type}.`);
  }
};
