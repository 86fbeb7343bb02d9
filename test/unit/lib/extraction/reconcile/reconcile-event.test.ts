import { expect, test } from 'vitest';
import {
  answerReconcile,
  NotYet,
  reconcileCallerOf,
} from '../../../../../lib/extraction/reconcile/reconcile-event.ts';
import type { ReconcileResult } from '../../../../../lib/extraction/reconcile/steps.ts';
import { extractionIn, id } from '../../../../support/extraction-fixtures.ts';

test('the machine reports a failure before, also by an earlier definition', () => {
  const earlier = {
    trigger: 'machine',
    extractionId: id,
    startAbandoned: false,
    sealedTarget: null,
  } as const;
  expect(reconcileCallerOf(earlier)).toEqual({ kind: 'machine', afterFailure: false });
  expect(reconcileCallerOf({ ...earlier, afterFailure: true })).toEqual({
    kind: 'machine',
    afterFailure: true,
  });
  expect(reconcileCallerOf({ trigger: 'operator', extractionId: id })).toEqual({ kind: 'operator' });
});

const notYet: ReconcileResult = { kind: 'not-yet', record: extractionIn('RUNNING'), why: 'still-running' };

test('the machine gets NotYet with the reason', () => {
  expect(() => answerReconcile(id, notYet, 'machine')).toThrow(new NotYet('still-running'));
});

test('an operator, who does not retry, gets an answer', () => {
  expect(answerReconcile(id, notYet, 'operator')).toEqual({
    extractionId: id,
    status: 'RUNNING',
    deferred: true,
  });
});

test('the machine gets an answer if the record is closed, or if the queue continues', () => {
  const record = extractionIn('TIMED_OUT');
  const closed = answerReconcile(id, { kind: 'closed', record }, 'machine');
  expect(closed).toEqual({ extractionId: id, status: 'TIMED_OUT', deferred: false });
  const deferred = { kind: 'deferred', record, why: 'still-running', next: undefined } as const;
  expect(answerReconcile(id, deferred, 'machine')).toMatchObject({ deferred: true });
});

test('without a row the answer is GONE', () => {
  expect(answerReconcile(id, { kind: 'gone' }, 'machine')).toEqual({
    extractionId: id,
    status: 'GONE',
    deferred: false,
  });
});
