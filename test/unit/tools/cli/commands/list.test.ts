import { expect, test } from 'vitest';
import { rows, selectOpen } from '../../../../../tools/cli/commands/list.ts';
import { at, closedExtraction, extractionIn, iso } from '../../../../support/data/extraction-fixtures.ts';

const later = extractionIn('RUNNING', { dueAt: iso(20), requestedAt: iso(5) });
const earlier = extractionIn('REQUESTED', { dueAt: iso(10), reference: 'order-7' });
const closed = closedExtraction({ status: 'COMPLETED' });

test('open extractions are listed, those that are due for longest first', () => {
  expect(selectOpen([later, closed, earlier], {})).toEqual([earlier, later]);
});

test.each([
  [{ status: 'RUNNING' }, [later]],
  [{ status: 'COMPLETED' }, []],
  [{ reference: 'order-7' }, [earlier]],
  [{ since: iso(1) }, [later]],
  [{ since: iso(1), reference: 'order-7' }, []],
] as const)('%j selects the extractions that match all of it', (filter, selected) => {
  expect(selectOpen([later, closed, earlier], filter)).toEqual(selected);
});

test('a row names entity, caller, and of a closed extraction its end and why', () => {
  const [heading = '', open = '', rejected = ''] = rows([earlier, extractionIn('REJECTED')], at(5), 5);
  expect(heading.split(/ {2,}/).slice(2)).toEqual([
    'ENTITY',
    'CALLER',
    'AGE',
    'NEXT RECONCILE, OR END',
    'REASON',
  ]);
  expect(open.split(/ {2,}/).slice(1)).toEqual(['REQUESTED', 'bank', 'Caller', '5 s', 'in 5 s']);
  expect(rows([earlier], at(5), 5, () => iso(35))[1]).toContain('in line, starts in 30 s');
  expect(rejected.split(/ {2,}/).slice(1)).toEqual([
    'REJECTED',
    'bank',
    'Caller',
    '5 s',
    `ended ${iso(30).slice(0, 19)}Z`,
    'http-400',
  ]);
  const late = extractionIn('NOT_STARTED', { reason: 'start-window-over', lastProblem: 'quota-reached' });
  expect(rows([late], at(5), 5)[1]).toMatch(/ {2}start-window-over: quota-reached$/);
});
