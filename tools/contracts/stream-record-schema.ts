import { defined } from '../../lib/defined.ts';
import type { ExtractionEvent } from '../../lib/downstream/extraction-event.ts';
import { mapValues, type Schema } from './json-schema-type.ts';

type Kind = ExtractionEvent['kind'];

const image: Schema = { $ref: '#/$defs/Image' };
const has = (attribute: string): Schema => ({ required: [attribute] });
const lacks = (attribute: string): Schema => ({ not: has(attribute) });
const isRequested: Schema = { properties: { status: { properties: { S: { const: 'REQUESTED' } } } } };

/**
 * The schema of a record in the JSON of DynamoDB, such as `NewImage`, from the schema of the record itself. In that JSON every value
 * is in an object that names its type (https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_AttributeValue.html).
 */
const imageSchema = (record: Schema): Schema => ({
  ...record,
  properties: mapValues(record.properties ?? {}, valueSchema),
});

/** The schema of one value in the JSON of DynamoDB. Throws a RangeError for a type that no record has. */
const valueSchema = (schema: Schema): Schema => {
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

/** What all records have, of Lambda and of the DynamoDB Streams API. */
const common: Schema = {
  type: 'object',
  required: ['eventID', 'eventName', 'dynamodb'],
  properties: {
    eventID: {
      description: 'The same in every delivery of the stream record.',
      type: 'string',
      minLength: 1,
    },
    eventName: { type: 'string', enum: ['INSERT', 'MODIFY', 'REMOVE'] },
    eventSource: { const: 'aws:dynamodb' },
    dynamodb: {
      type: 'object',
      required: ['Keys', 'SequenceNumber', 'StreamViewType'],
      properties: {
        Keys: {
          type: 'object',
          required: ['extractionId'],
          properties: { extractionId: valueSchema({ type: 'string', minLength: 1 }) },
        },
        SequenceNumber: {
          description: 'Orders the changes of one extraction. It has too many digits for a 64-bit number.',
          type: 'string',
          pattern: '^\\d+$',
        },
        StreamViewType: { const: 'NEW_AND_OLD_IMAGES' },
        OldImage: image,
        NewImage: image,
      },
    },
  },
};

const kind = (description: string, eventName: string, dynamodb: Schema): Schema => ({
  description,
  $ref: '#/$defs/Record',
  properties: { eventName: { const: eventName }, dynamodb },
});

const insert = (description: string, now: Schema): Schema =>
  kind(description, 'INSERT', { allOf: [has('NewImage'), lacks('OldImage')], properties: { NewImage: now } });

const modify = (description: string, before: Schema, now: Schema): Schema =>
  kind(description, 'MODIFY', {
    required: ['OldImage', 'NewImage'],
    properties: { OldImage: before, NewImage: now },
  });

const remove = (description: string, by: Schema): Schema => ({
  ...kind(description, 'REMOVE', { allOf: [has('OldImage'), lacks('NewImage')] }),
  ...by,
});

/** The user identity of a removal by time to live. `type` and `principalId` are the names of its fields. */
const timeToLive = (type: string, principalId: string): Schema => ({
  required: ['userIdentity'],
  properties: {
    userIdentity: {
      type: 'object',
      required: [type, principalId],
      properties: { [type]: { const: 'Service' }, [principalId]: { const: 'dynamodb.amazonaws.com' } },
    },
  },
});

/** Lambda writes these names in lower case, and the DynamoDB Streams API in upper case. */
const byTimeToLive: Schema = {
  anyOf: [timeToLive('type', 'principalId'), timeToLive('Type', 'PrincipalId')],
};

const [isOpen, isSettled] = [lacks('settledAt'), has('settledAt')];
const mayChange: Schema = { allOf: [isSettled, lacks('isFinal')] };

/** The records of each kind. A schema cannot compare two values, so the table in docs/stream.md decides the kind. */
export const kinds: Readonly<Record<Kind, Schema>> = {
  requested: insert('A caller requested an extraction.', isRequested),
  progressed: modify('The status changed, and there is no outcome yet.', isOpen, isOpen),
  settled: modify('The extraction has an outcome.', isOpen, isSettled),
  corrected: modify('Another outcome replaces the first one.', mayChange, isSettled),
  reopened: modify('The outcome is withdrawn. There is none now.', mayChange, isOpen),
  collected: modify(
    'The results are stored, or there are none to store.',
    { allOf: [isSettled, lacks('collectedAt')] },
    has('collectedAt'),
  ),
  'not-collected': modify('The results will not be stored.', isSettled, has('collectionError')),
  advised: modify('Only the advice changed, as at the end of the grace of TIMED_OUT.', isSettled, {
    allOf: [isSettled, has('advice')],
  }),
  erasing: modify('It is to be erased, once its outcome is recorded.', lacks('erasingAt'), has('erasingAt')),
  housekeeping: modify('An internal change.', {}, {}),
  restored: insert('A lost record was restored from a backup.', { not: isRequested }),
  erased: remove('An operator deleted the record.', { not: byTimeToLive }),
  expired: remove('The retention of the record ended.', byTimeToLive),
};

/** The schema of a stream record, with one definition for each kind. `record` is the schema of the records in the table. */
export const streamRecordSchema = (record: Schema): Schema => {
  const { $defs = {}, anyOf = [] } = record;
  return {
    title: 'Record of the stream of extractions',
    anyOf: Object.keys(kinds).map((name) => ({ $ref: `#/$defs/${name}` })),
    $defs: {
      ...kinds,
      Record: common,
      Image: { description: 'A record in the JSON of DynamoDB.', anyOf },
      ...Object.fromEntries(
        Object.entries($defs).map(([name, definition]) => [
          name,
          anyOf.some(({ $ref }) => $ref === `#/$defs/${name}`)
            ? imageSchema(definition)
            : valueSchema(definition),
        ]),
      ),
    },
  };
};
