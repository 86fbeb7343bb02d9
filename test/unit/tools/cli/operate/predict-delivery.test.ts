import { expect, test } from 'vitest';
import { predictDelivery } from '../../../../../tools/cli/operate/predict-delivery.ts';
import { allStatuses, extractionIn } from '../../../../support/extraction-fixtures.ts';

test('a delivery would settle an extraction that is RUNNING or TIMED_OUT, and no other', () => {
  const settled = allStatuses.filter((status) => predictDelivery(extractionIn(status)).kind === 'settles');
  expect(settled).toEqual(['RUNNING', 'TIMED_OUT']);
});

test('a delivery for a task without an extraction would be an orphan', () => {
  expect(predictDelivery(undefined)).toEqual({ kind: 'orphan' });
});
