import { unmarshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, test } from 'vitest';
import { publishedKinds } from '#lib/downstream/publish-events.ts';
import { contractSchemas } from '../../../tools/contracts/contract-schemas.ts';
import { internalAttributes } from '../../../tools/contracts/record-schema.ts';
import { closedSchemaViolations, publishedSchemas, schemaViolations } from './contract-schemas.ts';
import { documentedRecords } from './documented-records.ts';
import { read } from './metric-names.ts';
import { isObject } from './openapi-document.ts';

const generated = contractSchemas();
const documented = documentedRecords();

test.each(Object.entries(generated))(
  'docs/schemas/%s is what the types say; npm run docs:schemas writes it',
  (name, schema) => {
    expect(publishedSchemas[name]).toEqual(schema);
  },
);

type Json = Readonly<Record<string, unknown>>;

/** Changes the object at a path. */
const changeAt = (
  value: unknown,
  [first, ...rest]: readonly string[],
  change: (at: Json) => Json,
): unknown => {
  if (!isObject(value)) throw new Error('There is no object at the path.');
  return first === undefined ? change(value) : { ...value, [first]: changeAt(value[first], rest, change) };
};

const withoutName =
  (name: string) =>
  (at: Json): Json =>
    Object.fromEntries(Object.entries(at).filter(([key]) => key !== name));
const withValue =
  (name: string, value: unknown) =>
  (at: Json): Json => ({ ...at, [name]: value });
const renamedTo =
  (name: string, to: string) =>
  (at: Json): Json =>
    Object.fromEntries(Object.entries(at).map(([key, value]) => [key === name ? to : key, value]));

const required = publishedSchemas['stream-record.json']?.$defs?.CredentialsExtraction?.required ?? [];

/** Records that differ from a documented one in one place, and that no version of the service may write. */
function* mutations(record: unknown): Generator<readonly [what: string, mutated: unknown]> {
  for (const name of ['eventID', 'eventName', 'dynamodb'])
    yield [`without ${name}`, changeAt(record, [], withoutName(name))];
  for (const name of ['Keys', 'SequenceNumber', 'StreamViewType'])
    yield [`without ${name}`, changeAt(record, ['dynamodb'], withoutName(name))];
  yield ['another event name', changeAt(record, [], withValue('eventName', 'UPSERT'))];
  yield ['another table', changeAt(record, ['dynamodb', 'Keys'], renamedTo('extractionId', 'taskId'))];
  yield ['a number as sequence', changeAt(record, ['dynamodb'], withValue('SequenceNumber', 17))];
  for (const side of ['OldImage', 'NewImage']) {
    const image = (record as { readonly dynamodb: Json }).dynamodb[side];
    if (!isObject(image)) continue;
    const at = ['dynamodb', side];
    yield [`without ${side}`, changeAt(record, ['dynamodb'], withoutName(side))];
    for (const name of required) yield [`${side} without ${name}`, changeAt(record, at, withoutName(name))];
    for (const name of Object.keys(image).filter((one) => !internalAttributes.includes(one))) {
      yield [`${side}.${name} of another type`, changeAt(record, at, withValue(name, { NULL: true }))];
      if (name.endsWith('At'))
        yield [`${side}.${name} that is no time`, changeAt(record, at, withValue(name, { S: 'soon' }))];
    }
    yield [`${side} of the next schemaVersion`, changeAt(record, at, withValue('schemaVersion', { N: '2' }))];
    yield [`${side} of an unknown method`, changeAt(record, at, withValue('method', { S: 'telepathy' }))];
  }
}

describe.each([...documented])('docs/events/%s.json', (kind, record) => {
  const reference = `stream-record.json#/$defs/${kind}`;

  test('fits the schema of its kind, also without room for later versions', () => {
    expect(schemaViolations(reference, record)).toEqual([]);
    expect(closedSchemaViolations(reference, record)).toEqual([]);
    expect(schemaViolations('stream-record.json', record)).toEqual([]);
  });

  test('does not fit it after any of dozens of changes', () => {
    const all = [...mutations(record)];
    expect(all.length).toBeGreaterThan(30);
    expect(all.filter(([, mutated]) => schemaViolations(reference, mutated).length === 0)).toEqual([]);
  });

  test('is not written by this version with any attribute renamed', () => {
    for (const side of ['OldImage', 'NewImage'] as const) {
      const image = record.dynamodb?.[side];
      for (const name of Object.keys(image ?? {})) {
        const renamed = changeAt(record, ['dynamodb', side], renamedTo(name, `${name}Renamed`));
        expect([name, closedSchemaViolations(reference, renamed)]).not.toEqual([name, []]);
      }
    }
  });

  test('is an extraction without the types of DynamoDB', () => {
    const { NewImage, OldImage } = record.dynamodb ?? {};
    const row = unmarshall((NewImage ?? OldImage) as Parameters<typeof unmarshall>[0]);
    expect(closedSchemaViolations('extraction.json', row)).toEqual([]);
  });
});

test('a removal by time to live is expired, and any other one erased', () => {
  const erased = documented.get('erased');
  const expired = { ...erased, userIdentity: { type: 'Service', principalId: 'dynamodb.amazonaws.com' } };
  expect(schemaViolations('stream-record.json#/$defs/expired', expired)).toEqual([]);
  expect(schemaViolations('stream-record.json#/$defs/expired', erased)).not.toEqual([]);
  expect(schemaViolations('stream-record.json#/$defs/erased', expired)).not.toEqual([]);
});

test('attributes and statuses of later versions fit', () => {
  const settled = documented.get('settled');
  const later = changeAt(settled, ['dynamodb', 'NewImage'], (image) => ({
    ...image,
    cause: { M: { code: { N: '1.5' } } },
    status: { S: 'WITHDRAWN' },
  }));
  expect(schemaViolations('stream-record.json#/$defs/settled', later)).toEqual([]);
  expect(closedSchemaViolations('stream-record.json#/$defs/settled', later)).not.toEqual([]);
});

test('docs/stream.md explains every attribute of the schema, and calls the others internal', () => {
  const rows =
    read('docs/stream.md')
      .split('## The attributes')[1]
      ?.split('\n## ')[0]
      ?.match(/^\| `.*$/gm) ?? [];
  const named = (lines: readonly string[]) =>
    lines.flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name));
  const isInternal = (line: string): boolean => line.includes('| internal: ');
  const { CredentialsExtraction, ConsentExtraction } = publishedSchemas['extraction.json']?.$defs ?? {};
  const attributes = [
    ...Object.keys(CredentialsExtraction?.properties ?? {}),
    ...Object.keys(ConsentExtraction?.properties ?? {}),
  ];
  expect(named(rows.filter((line) => !isInternal(line))).toSorted()).toEqual(
    [...new Set(attributes)].toSorted(),
  );
  expect(named(rows.filter(isInternal)).toSorted()).toEqual(internalAttributes.toSorted());
});

test('docs/stream.md names the kinds on the bus', () => {
  const listed = publishedKinds.map((kind) => `\`${kind}\``);
  expect(read('docs/stream.md').replaceAll('\n', ' ')).toContain(
    `${listed.slice(0, -1).join(', ')} and ${listed.at(-1)}`,
  );
});
