import { expect, test } from 'vitest';
import { describeLogLine } from '../../../../../tools/local/demo/describe-log-line.ts';

const line = (facts: object) => describeLogLine(JSON.stringify({ level: 'INFO', ...facts }));

test('what the API has answered is a line', () => {
  const extractionId = '01a1fe07-9745-75b1-b891-0d0d5703db17';
  const service = 'request-extraction';
  expect(line({ service, message: 'Extraction requested.', outcome: 'created', extractionId })).toEqual({
    subject: 'api',
    name: '5703db17',
    text: 'request-extraction: Extraction requested.  outcome created',
  });
});

test('a refused delivery and every other warning is a line', () => {
  const refused = {
    service: 'receive-webhook',
    level: 'WARN',
    message: 'Delivery refused.',
    reason: 'mismatch',
  };
  expect(line(refused)).toEqual({
    subject: 'log',
    text: 'receive-webhook: Delivery refused.  reason mismatch',
  });
  expect(line({ service: 'start-task', level: 'ERROR', message: 'The start call failed.' })?.subject).toBe(
    'log',
  );
});

test.each([
  'START RequestId: 1 Version: $LATEST',
  '[1]',
  '{"WebhookSignatureMismatch":1,"_aws":{}}',
  '{"level":"INFO","service":"start-task","message":"Start finished."}',
  '{"level":"INFO","service":"receive-webhook","message":"Delivery received.","recorded":{"kind":"recorded"}}',
])('%s adds nothing to other lines', (message) => {
  expect(describeLogLine(message)).toBeUndefined();
});
