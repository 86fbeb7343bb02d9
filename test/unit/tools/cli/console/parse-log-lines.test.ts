import { expect, test } from 'vitest';
import { parseDeliveryLine, parseSweepLine } from '../../../../../tools/cli/console/parse-log-lines.ts';
import { id, iso } from '../../../../support/extraction-fixtures.ts';

const timestamp = iso(1);
const line = { level: 'INFO', timestamp, service: 'receive-webhook', function_name: 'f' };

test.each([
  [
    {
      message: 'Delivery received.',
      taskId: 't',
      recorded: { kind: 'recorded', extractionId: id, wake: 'woken' },
    },
    { taskId: 't', extractionId: id, answer: 204, verdict: 'recorded', wake: 'woken' },
  ],
  [
    { message: 'Delivery received.', taskId: 't', recorded: { kind: 'stored' } },
    { taskId: 't', answer: 204, verdict: 'stored' },
  ],
  [
    { message: 'Delivery received.', taskId: 't', recorded: 'unknown-status' },
    { taskId: 't', answer: 204, verdict: 'unknown-status' },
  ],
  [
    { message: 'Delivery refused.', level: 'WARN', reason: 'mismatch' },
    { answer: 401, verdict: 'mismatch' },
  ],
  [
    { message: 'A verified delivery could not be read.', level: 'ERROR', reason: 'no-task' },
    { answer: 400, verdict: 'no-task' },
  ],
  [
    { message: 'The request failed.', level: 'ERROR', failure: {} },
    { answer: 500, verdict: 'failed' },
  ],
])('a line of receive-webhook is a delivery: %j', (fields, expected) => {
  expect(parseDeliveryLine({ ...line, ...fields })).toEqual({ at: timestamp, ...expected });
});

test('other lines are no delivery and no sweep', () => {
  const metric = { ...line, level: 'WARN', message: 'Metric counted.', metric: 'UnlinkedDelivery' };
  expect(parseDeliveryLine(metric)).toBeUndefined();
  expect(parseDeliveryLine({ _aws: {} })).toBeUndefined();
  expect(parseSweepLine(metric)).toBeUndefined();
});

test('the line that ends a sweep has its counts', () => {
  const swept = { sent: 3, failed: 1, cutShort: false };
  expect(parseSweepLine({ ...line, message: 'Sweep finished.', ...swept })).toEqual({
    at: timestamp,
    sent: 3,
    failed: 1,
  });
});
