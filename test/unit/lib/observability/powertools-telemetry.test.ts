import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { NotConfigured } from '#lib/not-configured.ts';
import { functionNames } from '../../../../infra/lambda/contracts.ts';
import { capturedLog } from '../../../support/data/captured-log.ts';
import { functionsOf, synthesize } from '../../infra/synth.ts';

const log = capturedLog();

const environments = [
  ...functionsOf(synthesize({ callersMayErase: 'true', publishEvents: 'true' }).template).values(),
].map(({ variables }) => variables);

type Observability = typeof import('#lib/observability/powertools-telemetry.ts');
let copies = 0;
let copy: Observability;

/**
 * Each test has its own copy of the module, which reads the environment when it is loaded, and keeps ids and metrics. The files
 * of the project share their modules, so another may have loaded it without this environment.
 */
beforeEach(async () => {
  for (const [name, value] of Object.entries(environments[0] ?? {})) vi.stubEnv(name, value);
  copies += 1;
  const url = new URL(
    `../../../../lib/observability/powertools-telemetry.ts?copy=${copies}`,
    import.meta.url,
  );
  copy = await import(/* @vite-ignore */ url.href);
});

afterEach(() => vi.unstubAllEnvs());

test('what is counted is published as the alarms expect it', async () => {
  const { observability, telemetry } = copy;
  telemetry.count('SweepFinished');
  telemetry.count('SweepFinished', { value: 0 });
  telemetry.count('OldestOverdueSeconds', { value: 12.5 });
  telemetry.count('SecondsToStart', { value: 0.5 });
  for (const { after } of observability()) await after?.({} as never);
  const emf = log.lines().match(/^\{"_aws":.+$/m)?.[0] ?? '{}';
  expect(JSON.parse(emf)).toMatchObject({
    _aws: {
      CloudWatchMetrics: [
        {
          Namespace: 'Cosecha/prod',
          Dimensions: [['service']],
          Metrics: [
            { Name: 'SweepFinished', Unit: 'Count' },
            { Name: 'OldestOverdueSeconds', Unit: 'Seconds' },
            { Name: 'SecondsToStart', Unit: 'Seconds' },
          ],
        },
      ],
    },
    service: 'cosecha',
    SweepFinished: [1, 0],
    OldestOverdueSeconds: 12.5,
  });
});

test('what is published now is not published again at the end', async () => {
  const { observability, telemetry, publishNow } = copy;
  telemetry.count('SweepStarted');
  publishNow();
  expect(log.lines()).toContain('"SweepStarted":1');
  for (const { after } of observability()) await after?.({} as never);
  expect(log.lines().match(/"SweepStarted":1/g)).toHaveLength(1);
});

test('a metric that an operator investigates is logged with its ids, and any other is not', async () => {
  const { telemetry } = copy;
  const record = { extractionId: 'e-1', requestedBy: 'the caller' };
  telemetry.count('Collected', record);
  // The sweep adds this zero for metric math, and nothing has happened.
  telemetry.count('UnlinkedDelivery', { value: 0 });
  expect(log.lines()).toBe('');
  telemetry.count('StatusDisagreement', record);
  expect(log.lines()).not.toContain('the caller');
  expect(JSON.parse(log.lines().trim())).toMatchObject({
    level: 'WARN',
    metric: 'StatusDisagreement',
    extractionId: 'e-1',
  });
});

test.each([
  ['a seal key that is disabled', 'DisabledException', 'arn:aws:kms:eu-west-1:1:key/2 is disabled.', 1],
  ['a key that a service may not use', 'AccessDenied', 'not authorized to perform: kms:Decrypt', 1],
  ["a secret's key", 'DecryptionFailure', 'can not decrypt', 1],
  ['throttling by KMS', 'ThrottlingException', 'the rate at which you may call KMS', 0],
  ['another denial', 'AccessDenied', 'not authorized to perform: s3:PutObject', 0],
])('a call that fails for %s is counted for its alarm, also as a cause', async (_, name, message, count) => {
  const { observability, telemetry } = copy;
  const cause = Object.assign(new Error(message), { name, $metadata: {} });
  telemetry.failure('The start failed.', new Error('start', { cause }));
  // Not an error of AWS.
  telemetry.failure('The start failed.', new Error('kms'));
  for (const { after } of observability()) await after?.({} as never);
  expect(log.lines().match(/"KeyFailed":1/g) ?? []).toHaveLength(count);
  expect(log.lines()).not.toContain(message);
});

test('a line names its invocation, and repeats nothing that its log group or the REPORT line has', async () => {
  const { observability, telemetry } = copy;
  const context = {
    awsRequestId: 'request-1',
    functionName: 'f',
    invokedFunctionArn: 'arn:f',
    memoryLimitInMB: '256',
  };
  for (const { before } of observability()) await before?.({ event: {}, context, internal: {} } as never);
  telemetry.log('It happened.', { extractionId: 'e-1' });
  expect(Object.keys(JSON.parse(log.lines().trim()))).toEqual([
    'level',
    'message',
    'timestamp',
    'service',
    'cold_start',
    'function_request_id',
    'extractionId',
  ]);
});

test('a failure is logged with its ids and without the message of the error', async () => {
  const { telemetry } = copy;
  telemetry.about({ taskId: 't-1' });
  telemetry.failure('It failed.', new TypeError('secret'), { extractionId: 'e-1' });
  expect(log.lines()).not.toContain('secret');
  expect(JSON.parse(log.lines().trim())).toMatchObject({
    level: 'ERROR',
    message: 'It failed.',
    extractionId: 'e-1',
    taskId: 't-1',
    failure: { name: 'TypeError' },
  });
});

test('a failure for want of a secret says which, and is counted for its alarm', async () => {
  const { observability, telemetry } = copy;
  const missing = new NotConfigured('secret', 'Cosecha-prod/provider-api-key');
  telemetry.failure('The task could not be read.', missing);
  for (const { after } of observability()) await after?.({} as never);
  expect(log.lines()).toContain(missing.message);
  expect(log.lines()).toContain('"SecretNotFilled":1');
});

test('every function publishes it in the same namespace', () => {
  expect(environments).toHaveLength(functionNames.length);
  expect(new Set(environments.map((variables) => variables.POWERTOOLS_METRICS_NAMESPACE))).toEqual(
    new Set(['Cosecha/prod']),
  );
});

const functions = new URL('../../../../functions/', import.meta.url);

/** They only read, or do what a repeated request does again. Their callers wait for an answer, also at the timeout. */
const answeringAtTimeout = [
  'get-extraction.ts',
  'manage-consents.ts',
  'manage-erasures.ts',
  'request-extraction.ts',
];

test('Lambda itself ends every function that writes an outcome, at its timeout', () => {
  const others = readdirSync(functions).filter((file) => !answeringAtTimeout.includes(file));
  const ended = others.filter((file) =>
    /= backgroundHandler\(|= httpHandler\(.*, endAtTimeout\)/.test(
      readFileSync(new URL(file, functions), 'utf8'),
    ),
  );
  expect(ended).toEqual(others);
});
