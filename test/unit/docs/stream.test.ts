import { expect, test } from 'vitest';
import { decodeExtractionEvent } from '../../../lib/downstream/decode-extraction-event.ts';
import { documentedRecords } from './documented-records.ts';

const shown = documentedRecords();

test('docs/stream.md shows a record of every kind, but of the one that differs by a field', () => {
  expect([...shown.keys()].toSorted()).toEqual([
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

test.each([...shown])('what docs/stream.md shows as %s is decoded as that', (kind, record) => {
  expect(decodeExtractionEvent(record).kind).toBe(kind);
});
