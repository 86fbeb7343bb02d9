import { expect, test } from 'vitest';
import { parseDeadLetter } from '../../../../../tools/cli/operate/parse-dead-letter.ts';

const extractionId = '0190a0b0-0000-7000-8000-000000000001';

/** Step Functions' documented example, shortened. */
const brokenEvent = {
  version: '0',
  id: '315c1398-40ff-a850-213b-158f73e60175',
  'detail-type': 'Step Functions Execution Status Change',
  source: 'aws.states',
  detail: { name: extractionId, status: 'TIMED_OUT', input: '{"sealed":"x"}' },
};

test.each([
  ['a message of the queue', { extractionId, cause: 'webhook' }],
  ['a message that the rule did not deliver', { extractionId, cause: 'execution-broken' }],
  ['an event that the rule did not deliver', brokenEvent],
])('the extraction of %s', (_, body) => {
  expect(parseDeadLetter(JSON.stringify(body))).toBe(extractionId);
});

test.each([
  'no json',
  'null',
  '{}',
  JSON.stringify({ trigger: 'sweep' }),
  JSON.stringify({ extractionId: 'no-uuid', cause: 'webhook' }),
  JSON.stringify({ ...brokenEvent, source: 'my.own' }),
])('%s is unknown', (body) => {
  expect(parseDeadLetter(body)).toBeUndefined();
});
