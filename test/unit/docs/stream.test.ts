import { expect, test } from 'vitest';
import { decodeExtractionEvent, type StreamRecord } from '../../../lib/downstream/decode-extraction-event.ts';
import { publishedSchemas, schemaViolations } from './contract-schemas.ts';
import { documentedRecords } from './documented-records.ts';
import { read } from './metric-names.ts';

const documented = documentedRecords();

test('docs/events has a record of every kind except `expired`, which is `erased` with one field more', () => {
  expect([...documented.keys()].toSorted()).toEqual([
    'collected',
    'corrected',
    'erased',
    'housekeeping',
    'not-collected',
    'progressed',
    'reopened',
    'requested',
    'restored',
    'settled',
  ]);
});

test('docs/stream.md links to the record of each kind', () => {
  const page = read('docs/stream.md');
  const links = [...page.matchAll(/\]\(events\/([a-z-]+)\.json\)/g)].map(([, kind]) => kind);
  expect(links.toSorted()).toEqual([...documented.keys()].toSorted());
});

test.each([...documented])(
  'docs/events/%s.json is decoded as that kind, and forwarded as the sample',
  (kind, record) => {
    const event = decodeExtractionEvent(record);
    expect(event.kind).toBe(kind);
    // `npm run docs:schemas` writes it.
    expect(JSON.parse(read(`docs/events/forwarded/${kind}.json`))).toEqual(event);
    expect(schemaViolations(`event.json#/$defs/${kind}`, event)).toEqual([]);
    expect(schemaViolations('event.json', event)).toEqual([]);
  },
);

test.each([
  ['kind', 'requested'],
  ['from', undefined],
  ['outcome', ''],
  ['sequenceNumber', 17],
  ['extraction', { status: 'COMPLETED' }],
])('event.json refuses a settled event with another %s', (field, value) => {
  const event = decodeExtractionEvent(documented.get('settled') as StreamRecord);
  const mutated = JSON.parse(JSON.stringify({ ...event, [field]: value })) as unknown;
  expect(schemaViolations('event.json#/$defs/settled', mutated)).not.toEqual([]);
});

test('docs/stream.md explains every field of an event', () => {
  const [, section = ''] = read('docs/stream.md').split('### The event as JSON');
  const { $defs = {} } = publishedSchemas['event.json'] ?? {};
  const fields = Object.values($defs).flatMap(({ properties = {} }) => Object.keys(properties));
  const rows = section.split('\n## ')[0]?.match(/^\| `\w+`/gm) ?? [];
  expect(rows.map((row) => row.slice(3, -1)).toSorted()).toEqual([...new Set(fields)].toSorted());
});
