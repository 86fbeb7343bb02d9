import { expect, test } from 'vitest';
import type { ReconcileResult } from '../../../../lib/extraction/reconcile.ts';
import { answerReconcile, NotYet, reconcileCallerOf } from '../../../../lib/extraction/reconcile-event.ts';
import { extractionIn, id } from '../../../support/extraction-fixtures.ts';

test('an operator who asks gives up no more than the sweep does', () => {
  expect(reconcileCallerOf({ trigger: 'operator', extractionId: id })).toEqual({ kind: 'sweep' });
});

test('the rule and the machine are told apart', () => {
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

test('the machine is made to come again by an error that says why', () => {
  expect(() => answerReconcile(id, notYet, 'machine')).toThrow(new NotYet('still-running'));
});

test('the rule, which would not come again, is answered', () => {
  expect(answerReconcile(id, notYet, 'execution-broken')).toEqual({
    extractionId: id,
    status: 'RUNNING',
    deferred: true,
  });
});

test.each([
  ['closed', false],
  ['deferred', true],
] as const)('%s is an answer to the machine', (kind, deferred) => {
  const record = extractionIn('TIMED_OUT');
  expect(answerReconcile(id, { kind, record }, 'machine')).toEqual({
    extractionId: id,
    status: 'TIMED_OUT',
    deferred,
  });
});

test('a row that is gone leaves nothing to come again for', () => {
  expect(answerReconcile(id, { kind: 'gone' }, 'machine')).toEqual({
    extractionId: id,
    status: 'GONE',
    deferred: false,
  });
});
