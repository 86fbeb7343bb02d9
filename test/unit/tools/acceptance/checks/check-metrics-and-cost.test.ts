import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { headroomProblem, invocationsFor } from '#tools/acceptance/checks/check-metrics-and-cost.ts';
import { keyPolicyProblems, type Statement } from '#tools/acceptance/checks/check-seal-key.ts';
import { isSettlementOf } from '#tools/acceptance/checks/check-stream.ts';
import {
  compareCostWithEstimate,
  describeStartAndEnd,
  dollarsOf,
  measuredCost,
  readEstimate,
} from '#tools/acceptance/checks/compare-cost-with-estimate.ts';
import { parseReport } from '#tools/acceptance/checks/lambda-report-lines.ts';
import { describePrices, prices } from '#tools/acceptance/checks/prices.ts';
import { read } from '../../../docs/pages.ts';

// As in https://docs.aws.amazon.com/lambda/latest/dg/nodejs-logging.html
const report = (requestId: string, more = '') =>
  `REPORT RequestId: ${requestId}\tDuration: 152.40 ms\tBilled Duration: 153 ms\tMemory Size: 512 MB\tMax Memory Used: 100 MB\t${more}`;

test('a REPORT line is read, with and without a cold start', () => {
  expect(parseReport(report('r-1'))).toEqual({
    requestId: 'r-1',
    durationMs: 152.4,
    billedMs: 153,
    memoryMB: 512,
    usedMB: 100,
    initMs: undefined,
  });
  expect(parseReport(report('r-1', 'Init Duration: 210.5 ms'))?.initMs).toBe(210.5);
  expect(parseReport('START RequestId: r-1 Version: $LATEST')).toBeUndefined();
});

test('the invocations of an extraction are those whose own lines name it', () => {
  const lines = [
    '{"message":"Recorded.","function_request_id":"r-1","extractionId":"mine"}',
    report('r-1'),
    '{"message":"Recorded.","function_request_id":"r-2","extractionId":"other"}',
    report('r-2'),
  ];
  expect(invocationsFor(lines, ['mine']).map(({ requestId }) => requestId)).toEqual(['r-1']);
});

const billed = { durationMs: 900, billedMs: 900, initMs: undefined };
const invocation = { ...billed, requestId: 'r', memoryMB: 512, usedMB: 100 };

test('a function that nearly uses up its memory or its time is named', () => {
  const webhook = { name: 'receive-webhook', timeoutSeconds: 10 };
  expect(headroomProblem(webhook, [invocation])).toBeUndefined();
  expect(headroomProblem(webhook, [invocation, { ...invocation, usedMB: 500 }])).toBe(
    'receive-webhook used 500 MB, 98 % of its memory.',
  );
  expect(headroomProblem({ ...webhook, timeoutSeconds: 1 }, [{ ...invocation, durationMs: 950 }])).toBe(
    'receive-webhook ran for 0.95 s of its timeout of 1 s.',
  );
});

test('the cost of a million is calculated from what was billed', () => {
  const work = measuredCost([invocation, invocation], [2, 2], 2);
  expect(work).toEqual({ transitions: 2, invocations: 1, gigabyteSeconds: 0.45 });
  expect(dollarsOf(work)).toBeCloseTo(50 + 0.2 + 0.45 * 13.3334, 4);
  const sentences = compareCostWithEstimate(work, { ...work, rest: 30 });
  expect(sentences).toContain('bill $56.20 (2.0 transitions, 1.0 invocations, 0.45 GB-seconds each)');
  expect(sentences).toContain('With the rest of the estimate, $30.00, a million costs $86.20.');
});

test('the estimate is read from docs/performance.md', async () => {
  const estimate = await readEstimate();
  expect(Object.values(estimate).filter((figure) => figure > 0)).toHaveLength(4);
  // An extraction has one invocation for each function on its path. The rest, with Start and End, is three quarters of the whole.
  expect(estimate).toMatchObject({ transitions: 1, invocations: 5 });
  expect(estimate.rest / (dollarsOf(estimate) + estimate.rest)).toBeCloseTo(0.73, 1);
});

test('what Step Functions consumed shows whether Start and End count, unless others used it too', () => {
  expect(describeStartAndEnd(3, 1)).toMatch(/counted 3\.0 transitions each, .* so Start and End count\.$/);
  expect(describeStartAndEnd(1.1, 1)).toMatch(/so Start and End do not count\.$/);
  expect(describeStartAndEnd(9, 1)).toMatch(/it is open whether/);
});

const startTask = { name: 'start-task', roleArn: 'arn:aws:iam::111122223333:role/start' };
const sweep = { name: 'sweep-extractions', roleArn: 'arn:aws:iam::111122223333:role/sweep' };
const root = 'arn:aws:iam::111122223333:root';

const onlyExtraction = { 'kms:EncryptionContext:extractionId': 'false' };
const forOneExtraction = { Null: { ...onlyExtraction, 'kms:EncryptionContext:requestId': 'false' } };
const allow = (
  AWS: string | readonly string[],
  Action: string | readonly string[],
  Condition: Statement['Condition'] = {},
): Statement => ({ Effect: 'Allow', Principal: { AWS }, Action, Condition });

const administer = allow(root, ['kms:DescribeKey', 'kms:PutKeyPolicy']);
const users = [startTask.roleArn, sweep.roleArn];
const unseal = allow(users, 'kms:Decrypt', forOneExtraction);

const problemsOf = (Statement: readonly Statement[], withConditions = true) =>
  keyPolicyProblems({ Statement }, [startTask, sweep], { withConditions });

test('the policy of the seal key lets only its users decrypt, for a named extraction', () => {
  expect(problemsOf([administer, unseal])).toEqual([]);
  const onlyUser = allow(sweep.roleArn, 'kms:Decrypt', forOneExtraction);
  const left = 'The policy of the seal key does not let start-task decrypt.';
  expect(problemsOf([administer, onlyUser])).toEqual([left]);
  const everybody = { ...onlyUser, Principal: '*' } as const;
  expect(problemsOf([unseal, everybody])).toEqual(['The policy of the seal key lets * decrypt.']);
  const unnamed = allow(users, 'kms:Decrypt', { Null: onlyExtraction });
  expect(problemsOf([administer, unnamed])).toEqual([
    'The policy of the seal key allows to decrypt without extractionId and requestId in the context.',
  ]);
  // Where conditions are unknown.
  expect(problemsOf([allow(users, 'kms:Decrypt')], false)).toEqual([]);
});

const decrypting = ['kms:Decrypt', 'kms:*', '*', 'kms:CreateGrant', 'kms:ReEncryptFrom'];

test.each(decrypting)('a policy of the seal key that allows %s to another principal is refused', (action) => {
  const problems = problemsOf([administer, unseal, allow(root, action, forOneExtraction)]);
  expect(problems).toEqual([`The policy of the seal key lets ${root} decrypt.`]);
});

test('a settlement is read from an event of the bus', () => {
  const body = readFileSync(new URL('../../../../../docs/events/bus/settled.json', import.meta.url), 'utf8');
  expect(isSettlementOf(JSON.parse(body).detail.subject)(body)).toBe(true);
  expect(isSettlementOf('another')(body)).toBe(false);
});

test('README and docs/performance.md say beside the sum which prices were not seen at AWS', () => {
  const flat = (path: string) => read(path).replaceAll(/\s+/g, ' ');
  const sentence = describePrices();
  expect(flat('docs/performance.md')).toContain(sentence);
  const [count = ''] = sentence.split(';');
  expect(flat('README.md')).toContain(`${count}, the others are quoted`);
  for (const { on } of Object.values(prices)) expect(on).toMatch(/^2026-\d\d-\d\d$/);
});
