import { describe, expect, test } from 'vitest';
import { readConfig } from '../../../../infra/settings/config.ts';
import { ConfigError } from '../../../../infra/settings/config-error.ts';
import { required } from '../synth.ts';

const refusal = (settings: Readonly<Record<string, unknown>>): string => {
  try {
    readConfig({ ...required, ...settings });
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return 'accepted';
};

describe('settings', () => {
  test('require only a stage and a provider', () => {
    expect(readConfig(required)).toMatchObject({ ...required, deadlineSeconds: 7_200, readers: [] });
  });

  test('are frozen', () => {
    expect(readConfig(required)).toSatisfy(Object.isFrozen);
  });

  test('on the command line are text and become numbers', () => {
    expect(readConfig({ ...required, pollEverySeconds: '60' }).pollEverySeconds).toBe(60);
  });

  test("ignore CDK's own context", () => {
    expect(refusal({ '@aws-cdk/core:x': true, 'aws:cdk:bundling-stacks': [], 'cli-telemetry': false })).toBe(
      'accepted',
    );
  });

  test('of a few seconds, as the tests need, are accepted', () => {
    const fast = {
      stage: 'local',
      providerBaseUrl: 'http://127.0.0.1:8080',
      webhookWaitSeconds: 9,
      startWindowSeconds: 10,
      startTimeoutSeconds: 8,
      deadlineSeconds: 20,
      machineSlackSeconds: 10,
      pollFirstSeconds: 1,
      pollEverySeconds: 2,
      startRetryFirstSeconds: 1,
      startRetryEverySeconds: 1,
      providerConnectTimeoutMs: 1_000,
      providerTimeoutMs: 1_000,
      collectForSeconds: 10,
      graceSeconds: 10,
    };
    expect(refusal(fast)).toBe('accepted');
  });

  test('name readers as a comma-separated list', () => {
    const readers = 'arn:aws:iam::111122223333:role/path/auditor, arn:aws:iam::111122223333:user/ada';
    expect(readConfig({ ...required, readers }).readers).toEqual([
      'arn:aws:iam::111122223333:role/path/auditor',
      'arn:aws:iam::111122223333:user/ada',
    ]);
  });

  test('omit the slashes at the end of the provider address, to which paths are appended', () => {
    const config = readConfig({ ...required, providerBaseUrl: 'https://provider.example/bank//' });
    expect(config.providerBaseUrl).toBe('https://provider.example/bank');
  });
});

describe('settings are refused with a sentence that names them:', () => {
  test.each([
    ['a missing stage', { stage: undefined }, 'Setting stage is required'],
    ['a missing provider', { providerBaseUrl: undefined }, 'Setting providerBaseUrl is required'],
    ['a stage with invalid characters', { stage: 'Prod_1' }, 'Setting stage must be'],
    [
      'a provider without an address',
      { providerBaseUrl: 'provider' },
      'Setting providerBaseUrl must be an absolute',
    ],
    [
      'a provider in the clear',
      { stage: 'not-local', providerBaseUrl: 'http://p.example' },
      'Setting providerBaseUrl must be an https',
    ],
    [
      'a session under which credentials stay encrypted for too long',
      { encryptRawCredentials: true, sessionMinutes: 61 },
      'Setting encryptRawCredentials needs sessionMinutes of at most 60',
    ],
    ['an endpoint without what it is about', { consentPdfEndpoint: 'GET /pdf' }, 'with {consentId}'],
    [
      'a method that has no body',
      { revokeConsentEndpoint: 'GET /consents/{consentId}' },
      'Setting revokeConsentEndpoint',
    ],
    [
      'another parameter',
      { pollExtractionV2Endpoint: 'GET /{taskId}/{x}' },
      'Setting pollExtractionV2Endpoint',
    ],
    [
      'an address',
      { startExtractionV2Endpoint: 'POST https://p.example' },
      'Setting startExtractionV2Endpoint',
    ],
    ['a way out', { startExtractionV2Endpoint: 'POST /api/../v1' }, 'Setting startExtractionV2Endpoint'],
    ['a query in the address', { providerBaseUrl: 'https://p.example/?a=1' }, 'must not have a query'],
    [
      'a fake provider, which no setting adds',
      { hasFakeProvider: true },
      'Setting hasFakeProvider is unknown.',
    ],
    ['an unknown setting', { colour: 'red' }, 'Setting colour is unknown. docs/settings.md lists'],
    ['a misspelt setting', { webhokWaitSecnds: 60 }, 'Did you mean webhookWaitSeconds?'],
    ['a setting without its unit', { pollevery: 60 }, 'Did you mean pollEverySeconds?'],
    [
      'a word instead of a number',
      { pollEverySeconds: 'often' },
      'Setting pollEverySeconds must be a whole number of seconds',
    ],
    ['a fraction', { pollEverySeconds: 1.5 }, 'Setting pollEverySeconds must be a whole number'],
    ['an empty number', { pollEverySeconds: '' }, 'Setting pollEverySeconds must be a whole number'],
    ['a number out of range', { graceSeconds: 0 }, 'Setting graceSeconds must be'],
    ['records that expire before their execution name is free', { recordRetentionDays: 90 }, 'from 91 to'],
    [
      'results that outlive their record',
      { resultsRetentionDays: 121 },
      'Setting resultsRetentionDays must not exceed',
    ],
    [
      'a log retention that CloudWatch lacks',
      { logRetentionDays: 31 },
      'Setting logRetentionDays must be one of',
    ],
    ['a start timeout too short for its calls', { startTimeoutSeconds: 60 }, '4 × providerTimeoutMs (20000)'],
    [
      'a connect timeout longer than that of the whole call',
      { providerConnectTimeoutMs: 25_000 },
      'Setting providerConnectTimeoutMs',
    ],
    ['a wait shorter than the start', { webhookWaitSeconds: 90 }, 'Setting webhookWaitSeconds must exceed'],
    [
      'a deadline before the webhook is due',
      { deadlineSeconds: 1_499 },
      'Setting deadlineSeconds must be at least',
    ],
    [
      'fewer executions of reconcile-extraction than both queues have consumers',
      { reconcileReservedConcurrency: 99 },
      'Setting reconcileReservedConcurrency must be at least twice',
    ],
    ['poll intervals that shrink', { pollFirstSeconds: 121 }, 'Setting pollFirstSeconds must not exceed'],
    [
      'start intervals that shrink',
      { startRetryFirstSeconds: 61 },
      'Setting startRetryFirstSeconds must not exceed',
    ],
    ['a machine that ends before its last poll', { machineSlackSeconds: 120 }, 'Setting machineSlackSeconds'],
    [
      'a history near its limit',
      { pollFirstSeconds: 1, pollEverySeconds: 3 },
      'history events, more than 12000',
    ],
    [
      'more start retries than an attempt number holds',
      { startRetryFirstSeconds: 1, startRetryEverySeconds: 1 },
      'Setting startRetryEverySeconds is too short',
    ],
    ['a reader that is not a principal', { readers: 'ada' }, 'Setting readers must be'],
    [
      'a client id that is not a UUID',
      { providerClientId: 'ours' },
      'Setting providerClientId must be the UUID',
    ],
    ['a widget without a client', { widgetConfigId: 'w' }, 'Setting widgetConfigId needs providerClientId'],
    ['a topic that is not an ARN', { alarmTopicArn: 'on-call' }, 'Setting alarmTopicArn must be the ARN'],
    [
      'a FIFO topic, which accepts no alarms',
      { alarmTopicArn: 'arn:aws:sns:eu-west-1:111122223333:on-call.fifo' },
      'Setting alarmTopicArn must be the ARN of a standard',
    ],
    [
      'a runbook with a fragment, which is the entry',
      { runbookUrl: 'https://wiki.example/cosecha#top' },
      'Setting runbookUrl must be an https address',
    ],
    [
      'no default endpoint and no domain either',
      { disableDefaultEndpoint: 'true' },
      'Setting disableDefaultEndpoint needs domainName',
    ],
    [
      'a topic of another region than the certificate',
      {
        domainName: 'api.example.com',
        certificateArn: 'arn:aws:acm:eu-west-1:111122223333:certificate/1',
        alarmTopicArn: 'arn:aws:sns:us-east-1:111122223333:on-call',
      },
      'certificateArn, alarmTopicArn and pageTopicArn must be of one region',
    ],
    ['a domain without a certificate', { domainName: 'api.example.com' }, 'domainName and certificateArn'],
  ])('%s', (_, settings, sentence) => {
    expect(refusal(settings)).toContain(sentence);
  });

  test('all problems at once', () => {
    expect(refusal({ stage: '1', pollEvery: 1, graceSeconds: 0 }).split('\n')).toHaveLength(3);
  });

  test('without a password that an address contains', () => {
    const message = refusal({ providerBaseUrl: 'https://ada:swordfish@p.example' });
    expect(message).toContain('must not carry a user name or password');
    expect(message).not.toContain('swordfish');
  });
});
