import { expect, test } from 'vitest';
import { answerReconciled, NotYet } from '../../../../lib/extraction/answer-reconciled.ts';
import type { Reconciled } from '../../../../lib/extraction/reconcile.ts';
import { situationOf } from '../../../../lib/extraction/reconcile-event.ts';
import { extractionIn, id } from './fixtures.ts';

test('an operator who asks gives up no more than the sweep does', () => {
  expect(situationOf({ trigger: 'operator', extractionId: id })).toEqual({ caller: 'sweep' });
});

test('the rule and the machine are told apart', () => {
  expect(situationOf({ trigger: 'execution-broken', extractionId: id })).toEqual({
    caller: 'execution-broken',
  });
  expect(
    situationOf({ trigger: 'machine', extractionId: id, startGaveUp: true, sealedTarget: null }),
  ).toEqual({
    caller: 'machine',
    startGaveUp: true,
  });
});

const notYet: Reconciled = { kind: 'not-yet', record: extractionIn('RUNNING'), why: 'still-running' };

test('the machine is made to come again by an error that says why', () => {
  expect(() => answerReconciled(id, notYet, 'machine')).toThrow(new NotYet('still-running'));
});

test('the rule, which would not come again, is answered', () => {
  expect(answerReconciled(id, notYet, 'execution-broken')).toEqual({
    extractionId: id,
    status: 'RUNNING',
    handedOver: true,
  });
});

test.each([
  ['closed', false],
  ['handed-over', true],
] as const)('%s is an answer to the machine', (kind, handedOver) => {
  const record = extractionIn('TIMED_OUT');
  expect(answerReconciled(id, { kind, record }, 'machine')).toEqual({
    extractionId: id,
    status: 'TIMED_OUT',
    handedOver,
  });
});

test('a row that is gone leaves nothing to come again for', () => {
  expect(answerReconciled(id, { kind: 'gone' }, 'machine')).toEqual({
    extractionId: id,
    status: 'GONE',
    handedOver: false,
  });
});
