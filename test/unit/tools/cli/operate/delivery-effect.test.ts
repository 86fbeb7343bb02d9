import { expect, test } from 'vitest';
import { deliveryEffect } from '../../../../../tools/cli/operate/delivery-effect.ts';
import { allStatuses, extractionIn } from '../../../../support/extraction-fixtures.ts';

test('a delivery would settle an extraction that is RUNNING or TIMED_OUT, and no other', () => {
  const settled = allStatuses.filter((status) => deliveryEffect(extractionIn(status)).kind === 'settles');
  expect(settled).toEqual(['RUNNING', 'TIMED_OUT']);
});

test('a delivery for a task without an extraction would be an orphan', () => {
  expect(deliveryEffect(undefined)).toEqual({ kind: 'orphan' });
});
