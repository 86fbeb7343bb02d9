import { unmarshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, test } from 'vitest';
import { publishedKinds } from '#lib/downstream/publish-events.ts';
import { contractSchemas } from '../../../tools/contracts/contract-schemas.ts';
import { internalAttributes } from '../../../tools/contracts/record-schema.ts';
import { closedSchemaViolations, publishedSchemas, schemaViolations } from './contract-schemas.ts';
import { documentedRecords } from './documented-records.ts';
import { read } from './pages.ts';

const generated = contractSchemas();
const documented = documentedRecords();

test.each(Object.entries(generated))(
  'docs/schemas/%s is what the types say; npm run docs:schemas writes it',
  (name, schema) => {
    expect(publishedSchemas[name]).toEqual(schema);
  },
);

describe.each([...documented])('docs/events/%s.json', (kind, record) => {
  const reference = `stream-record.json#/$defs/${kind}`;

  test('fits the schema of its kind, also without room for later versions', () => {
    expect(schemaViolations(reference, record)).toEqual([]);
    expect(closedSchemaViolations(reference, record)).toEqual([]);
    expect(schemaViolations('stream-record.json', record)).toEqual([]);
  });

  test('is not written by this version with any attribute renamed', () => {
    for (const side of ['OldImage', 'NewImage'] as const) {
      for (const [name, value] of Object.entries(record.dynamodb?.[side] ?? {})) {
        const { [name]: _name, ...others } = record.dynamodb?.[side] ?? {};
        const image = { ...others, [`${name}Renamed`]: value };
        const renamed = { ...record, dynamodb: { ...record.dynamodb, [side]: image } };
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
  const fields = { cause: { M: { code: { N: '1.5' } } }, status: { S: 'WITHDRAWN' } };
  const NewImage = { ...settled?.dynamodb?.NewImage, ...fields };
  const later = { ...settled, dynamodb: { ...settled?.dynamodb, NewImage } };
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
