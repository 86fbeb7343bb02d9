import { expect, test } from 'vitest';
import {
  describeDue,
  describeProgress,
  describeView,
  operatorView,
} from '../../../../../tools/cli/terminal/describe-record.ts';
import {
  at,
  closedExtraction,
  extraction,
  extractionIn,
  iso,
} from '../../../../support/extraction-fixtures.ts';

test('an operator sees a record without its fingerprint, in one order whatever the order of the row', () => {
  const row = extraction();
  const reversed = Object.fromEntries(Object.entries({ ...row, later: 1 }).reverse()) as typeof row;
  const { fingerprint: _fingerprint, ...rest } = row;
  expect(operatorView(reversed)).toEqual({ ...rest, later: 1 });
  const names = Object.keys(operatorView(reversed));
  expect(names.slice(0, 3)).toEqual(['schemaVersion', 'extractionId', 'status']);
  expect(names.at(-1)).toBe('later');
  expect(describeView({ status: 'RUNNING', actions: [{ id: 'tef' }] })).toEqual([
    'status   RUNNING',
    'actions  [{"id":"tef"}]',
  ]);
});

test('status, reason, collection and close are one phrase', () => {
  expect(describeProgress(extractionIn('RUNNING'))).toBe('RUNNING');
  expect(describeProgress(extractionIn('TIMED_OUT'))).toBe(
    'TIMED_OUT (deadline-passed, settled by reconcile)',
  );
  const notCollected = closedExtraction({
    status: 'PARTIAL',
    settledBy: 'webhook',
    collectionError: 'no-results',
  });
  expect(describeProgress(notCollected)).toBe(
    'PARTIAL (settled by webhook), not collected: no-results, closed',
  );
  const actionResults = [{ id: 'tef', status: 'FAILED', errorCode: 'ACTION_ERROR' }];
  const failed = closedExtraction({ status: 'FAILED', settledBy: 'webhook', actionResults });
  expect(describeProgress(failed)).toBe('FAILED (tef: ACTION_ERROR, settled by webhook), closed');
});

test('a record is overdue after three intervals of the sweep, and before that it is due', () => {
  expect(describeDue(iso(100), at(40), 5)).toBe('in 1 min');
  expect(describeDue(iso(40), at(40.4), 5)).toBe('due for 0 s');
  expect(describeDue(iso(0), at(900), 5)).toBe('due for 15 min');
  expect(describeDue(iso(0), at(901), 5)).toBe('OVERDUE by 15 min 1 s');
  expect(describeDue(undefined, at(0), 5)).toBe('');
});
