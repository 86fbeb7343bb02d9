import { expect, test } from 'vitest';
import { selectOpen } from '../../../../../lib/cli/commands/list.ts';
import { closedExtraction, extractionIn, iso } from '../../../../support/extraction-fixtures.ts';

const later = extractionIn('RUNNING', { dueAt: iso(20) });
const earlier = extractionIn('REQUESTED', { dueAt: iso(10) });
const closed = closedExtraction({ status: 'COMPLETED' });

test('open extractions are listed, the most overdue first', () => {
  expect(selectOpen([later, closed, earlier], undefined)).toEqual([earlier, later]);
});

test('--status selects the extractions with this status', () => {
  expect(selectOpen([later, closed, earlier], 'RUNNING')).toEqual([later]);
  expect(selectOpen([later, closed, earlier], 'COMPLETED')).toEqual([]);
});
