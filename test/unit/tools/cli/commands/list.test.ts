import { expect, test } from 'vitest';
import { selectOpen } from '../../../../../tools/cli/commands/list.ts';
import { closedExtraction, extractionIn, iso } from '../../../../support/extraction-fixtures.ts';

const later = extractionIn('RUNNING', { dueAt: iso(20), requestedAt: iso(5) });
const earlier = extractionIn('REQUESTED', { dueAt: iso(10), reference: 'order-7' });
const closed = closedExtraction({ status: 'COMPLETED' });

test('open extractions are listed, the most overdue first', () => {
  expect(selectOpen([later, closed, earlier], {})).toEqual([earlier, later]);
});

test.each([
  [{ status: 'RUNNING' }, [later]],
  [{ status: 'COMPLETED' }, []],
  [{ reference: 'order-7' }, [earlier]],
  [{ since: iso(0) }, [earlier, later]],
  [{ since: iso(1) }, [later]],
  [{ since: iso(1), reference: 'order-7' }, []],
] as const)('%j selects the extractions that match all of it', (filter, selected) => {
  expect(selectOpen([later, closed, earlier], filter)).toEqual(selected);
});
