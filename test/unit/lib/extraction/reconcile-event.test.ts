import { expect, test } from 'vitest';
import type { ReconcileResult } from '../../../../lib/extraction/reconcile.ts';
import { answerReconcile, NotYet, reconcileCallerOf } from '../../../../lib/extraction/reconcile-event.ts';
import { extractionIn, id } from '../../../support/extraction-fixtures.ts';

test('an operator abandons no more than the sweep does', () => {
  expect(reconcileCallerOf({ trigger: 'operator', extractionId: id })).toEqual({ kind: 'sweep' });
});

test('the rule and the machine are different callers', () => {
  expect(reconcileCallerOf({ trigger: 'execution-broken', extractionId: id })).toEqual({
    kind: 'execution-broken',
  });
  expect(
    reconcileCallerOf({ trigger: 'machine', extractionId: id, startAbandoned: true, sealedTarget: null }),
  ).toEqual({
    kind: 'machine',
    startAbandoned: true,
  });
});

const notYet: ReconcileResult = { kind: 'not-yet', record: extractionIn('RUNNING'), why: 'still-running' };

test('the machine gets NotYet with the reason', () => {
  expect(() => answerReconcile(id, notYet, 'machine')).toThrow(new NotYet('still-running'));
});

test('the rule, which does not retry, gets an answer', () => {
  expect(answerReconcile(id, notYet, 'execution-broken')).toEqual({
    extractionId: id,
    status: 'RUNNING',
    deferred: true,
  });
});

test.each([
  ['closed', false],
  ['deferred', true],
] as const)('%s is returned to the machine', (kind, deferred) => {
  const record = extractionIn('TIMED_OUT');
  expect(answerReconcile(id, { kind, record }, 'machine')).toEqual({
    extractionId: id,
    status: 'TIMED_OUT',
    deferred,
  });
});

test('without a row the answer is GONE', () => {
  expect(answerReconcile(id, { kind: 'gone' }, 'machine')).toEqual({
    extractionId: id,
    status: 'GONE',
    deferred: false,
  });
});
