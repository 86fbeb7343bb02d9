import { expect, test } from 'vitest';
import { situationOf } from '../../../../lib/extraction/reconcile-event.ts';

const extractionId = 'e-1';

test('an operator who asks gives up no more than the sweep does', () => {
  expect(situationOf({ trigger: 'operator', extractionId })).toEqual({ caller: 'sweep' });
});

test('the rule and the machine are told apart', () => {
  expect(situationOf({ trigger: 'execution-broken', extractionId })).toEqual({ caller: 'execution-broken' });
  expect(situationOf({ trigger: 'machine', extractionId, startGaveUp: true, sealedTarget: null })).toEqual({
    caller: 'machine',
    startGaveUp: true,
  });
});
