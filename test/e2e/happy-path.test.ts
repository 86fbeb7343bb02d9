import { expect, test } from 'vitest';
import { historyOf, transitionsIn } from './support/execution.ts';
import { closed, statusesOf } from './support/records.ts';
import { settledByWebhook } from './support/running-extractions.ts';

test('an extraction that its webhook settles goes from REQUESTED to COMPLETED in one state transition', async () => {
  const { extractionId } = await settledByWebhook({}, { reference: 'invoice 42' });

  const record = await closed(extractionId);
  expect(record).toMatchObject({ status: 'COMPLETED', settledBy: 'webhook', reference: 'invoice 42' });
  expect(statusesOf(extractionId)).toEqual(['REQUESTED', 'STARTING', 'RUNNING', 'COMPLETED']);

  const history = await historyOf(extractionId);
  expect(history.at(-1)?.type).toBe('ExecutionSucceeded');
  expect(transitionsIn(history)).toBe(1);
});
