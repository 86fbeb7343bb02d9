import { expect, test } from 'vitest';
import { workOf } from '../../../../lib/cli/dead-letter.ts';

const extractionId = '0190a0b0-0000-7000-8000-000000000001';

/** As Lambda documents it for an on-failure destination. */
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

/** As Step Functions documents it, shortened. */
const brokenEvent = {
  version: '0',
  id: '315c1398-40ff-a850-213b-158f73e60175',
  'detail-type': 'Step Functions Execution Status Change',
  source: 'aws.states',
  detail: { name: extractionId, status: 'TIMED_OUT', input: '{"sealed":"x"}' },
};

test.each([
  ['an invocation that failed', invocationRecord({ trigger: 'execution-broken', extractionId })],
  ["a rule's input that was not delivered", { trigger: 'execution-broken', extractionId }],
  ['the event behind it', brokenEvent],
  ["an operator's", invocationRecord({ trigger: 'operator', extractionId })],
])('%s is looked at as an operator would, which gives up no start that was redriven since', (_, body) => {
  expect(workOf(JSON.stringify(body))).toEqual({ trigger: 'operator', extractionId });
});

test.each([
  ['an invocation that failed', invocationRecord({ trigger: 'sweep' })],
  ["the schedule's input", { trigger: 'sweep' }],
  ['the event of the schedule', { source: 'aws.events', 'detail-type': 'Scheduled Event', detail: {} }],
])('a sweep is swept again: %s', (_, body) => {
  expect(workOf(JSON.stringify(body))).toEqual({ trigger: 'sweep' });
});

test.each([
  'no json',
  'null',
  '{}',
  JSON.stringify({ trigger: 'machine', extractionId, startAbandoned: true, sealedTarget: null }),
  JSON.stringify({ trigger: 'execution-broken', extractionId: 'no-uuid' }),
  JSON.stringify({ ...brokenEvent, source: 'my.own' }),
])('%s is not ours', (body) => {
  expect(workOf(body)).toBeUndefined();
});
