import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { decodeExtractionEvent } from '../../../lib/downstream/decode-extraction-event.ts';
import { documentedRecords } from './documented-records.ts';

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
  const page = readFileSync(new URL('../../../docs/stream.md', import.meta.url), 'utf8');
  const links = [...page.matchAll(/\]\(events\/([a-z-]+)\.json\)/g)].map(([, kind]) => kind);
  expect(links.toSorted()).toEqual([...documented.keys()].toSorted());
});

test.each([...documented])('docs/events/%s.json is decoded as that kind', (kind, record) => {
  expect(decodeExtractionEvent(record).kind).toBe(kind);
});
