import { expect, test } from 'vitest';
import { parseDeadLetter } from '../../../../lib/cli/parse-dead-letter.ts';

const extractionId = '0190a0b0-0000-7000-8000-000000000001';

/** Lambda's documented example for an on-failure destination. */
const invocationRecord = (requestPayload: unknown) => ({
  version: '1.0',
  timestamp: '2026-11-14T18:16:05.568Z',
  requestContext: {
    requestId: 'e4b46cbf-b738-xmpl-8880-a18cdf61200e',
    functionArn: 'arn:aws:lambda:us-east-1:111122223333:function:reconcile:$LATEST',
    condition: 'RetriesExhausted',
    approximateInvokeCount: 2,
  },
  requestPayload,
  responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
  responsePayload: { errorType: 'Error' },
});

/** Step Functions' documented example, shortened. */
const brokenEvent = {
  version: '0',
  id: '315c1398-40ff-a850-213b-158f73e60175',
  'detail-type': 'Step Functions Execution Status Change',
  source: 'aws.states',
  detail: { name: extractionId, status: 'TIMED_OUT', input: '{"sealed":"x"}' },
};

test.each([
  [
    'a failed invocation for a broken execution',
    invocationRecord({ trigger: 'execution-broken', extractionId }),
  ],
  ['an input that the rule did not deliver', { trigger: 'execution-broken', extractionId }],
  ['an event that the rule did not deliver', brokenEvent],
  ['a failed invocation of an operator', invocationRecord({ trigger: 'operator', extractionId })],
])('%s is reconciled as an operator would, as the execution may have been redriven since', (_, body) => {
  expect(parseDeadLetter(JSON.stringify(body))).toEqual({ trigger: 'operator', extractionId });
});

test.each([
  ['a failed sweep', invocationRecord({ trigger: 'sweep' })],
  ['an input that the schedule did not deliver', { trigger: 'sweep' }],
  ['an event of the schedule', { source: 'aws.events', 'detail-type': 'Scheduled Event', detail: {} }],
])('%s is swept again', (_, body) => {
  expect(parseDeadLetter(JSON.stringify(body))).toEqual({ trigger: 'sweep' });
});

test.each([
  'no json',
  'null',
  '{}',
  JSON.stringify({ trigger: 'machine', extractionId, startAbandoned: true, sealedTarget: null }),
  JSON.stringify({ trigger: 'execution-broken', extractionId: 'no-uuid' }),
  JSON.stringify({ ...brokenEvent, source: 'my.own' }),
])('%s is unknown', (body) => {
  expect(parseDeadLetter(body)).toBeUndefined();
});
