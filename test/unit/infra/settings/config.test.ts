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

  test('keep results no longer than their record', () => {
    expect(refusal({ resultsRetentionDays: 120, recordRetentionDays: 120 })).toBe('accepted');
    expect(refusal({ resultsRetentionDays: 121, recordRetentionDays: 120 })).toContain(
      'resultsRetentionDays',
    );
  });

  test('keep an item of Tasks for as long as a mark may need it, to the second', () => {
    const days = { deadlineSeconds: 7_200, refusedCredentialsDays: 28 };
    expect(refusal({ ...days, graceSeconds: 2 * 86_400 - 7_200 })).toBe('accepted');
    expect(refusal({ ...days, graceSeconds: 2 * 86_400 - 7_199 })).toContain('refusedCredentialsDays');
  });

  test('may have a fraction as a rate, also on the command line', () => {
    const rateOf = (startsPerSecond: unknown) => readConfig({ ...required, startsPerSecond }).startsPerSecond;
    expect([rateOf(0.05), rateOf('2.5'), rateOf('200'), rateOf(undefined)]).toEqual([
      0.05,
      2.5,
      200,
      undefined,
    ]);
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
    [{ stage: undefined }, 'Setting stage is required'],
    [{ providerBaseUrl: undefined }, 'Setting providerBaseUrl is required'],
    [{ stage: 'Prod_1' }, 'Setting stage must be'],
    [{ providerBaseUrl: 'provider' }, 'Setting providerBaseUrl must be an absolute'],
    [{ stage: 'not-local', providerBaseUrl: 'http://p.example' }, 'Setting providerBaseUrl must be an https'],
    [{ consentPdfEndpoint: 'GET /pdf' }, 'with {consentId}'],
    [{ revokeConsentEndpoint: 'GET /consents/{consentId}' }, 'Setting revokeConsentEndpoint'],
    [{ pollExtractionV2Endpoint: 'GET /{taskId}/{x}' }, 'Setting pollExtractionV2Endpoint'],
    [{ startExtractionV2Endpoint: 'POST https://p.example' }, 'Setting startExtractionV2Endpoint'],
    [{ startExtractionV2Endpoint: 'POST /api/../v1' }, 'Setting startExtractionV2Endpoint'],
    [{ providerBaseUrl: 'https://p.example/?a=1' }, 'must not have a query'],
    [{ hasFakeProvider: true }, 'Setting hasFakeProvider is unknown.'],
    [{ colour: 'red' }, 'Setting colour is unknown. docs/settings.md lists'],
    [{ webhokWaitSecnds: 60 }, 'Did you mean webhookWaitSeconds?'],
    [{ pollevery: 60 }, 'Did you mean pollEverySeconds?'],
    [{ pollEverySeconds: 'often' }, 'Setting pollEverySeconds must be a whole number of seconds'],
    [{ pollEverySeconds: 1.5 }, 'Setting pollEverySeconds must be a whole number'],
    [{ pollEverySeconds: '' }, 'Setting pollEverySeconds must be a whole number'],
    [{ graceSeconds: 0 }, 'Setting graceSeconds must be'],
    [{ recordRetentionDays: 90 }, 'from 91 to'],
    [{ resultsRetentionDays: 121 }, 'Setting resultsRetentionDays must not exceed'],
    [{ logRetentionDays: 31 }, 'Setting logRetentionDays must be one of'],
    [{ startsPerSecond: 0 }, 'Setting startsPerSecond must be a number of starts a second from 0.001 to 200'],
    [{ startsPerSecond: '-1' }, 'Setting startsPerSecond must be a number'],
    [{ startsPerSecond: 201 }, 'Setting startsPerSecond must be a number'],
    [{ startsPerSecond: '1/s' }, 'Setting startsPerSecond must be a number'],
    [{ limitStarts: false }, 'Setting limitStarts is gone: every start has a permit or a place in line'],
    [{ maxWaitSeconds: 0 }, 'Setting maxWaitSeconds must be'],
    [{ maxWaitSeconds: 365 * 86_400 }, 'must be at most a year together: Step Functions ends an execution'],
    [{ maxWaitSeconds: 121 * 86_400 }, 'Setting maxWaitSeconds must not exceed recordRetentionDays'],
    [{ startTimeoutSeconds: 60 }, '4 × providerTimeoutMs (20000)'],
    [
      { startTimeoutSeconds: 17, providerTimeoutMs: 3_000 },
      "3 s for the read of a consent and 3 s of Cosecha's own work, 18 s.",
    ],
    [{ providerTimeoutMs: 2_900 }, 'Setting providerTimeoutMs must be at least 3000'],
    [{ pollBackoff: 3 }, 'Setting pollBackoff is gone: it is a constant'],
    [
      { stage: 'accept', sessionMinutes: 61 },
      'Setting sessionMinutes must be a whole number of minutes from 1 to 60',
    ],
    [{ apiBurstLimit: 100 }, 'Setting apiBurstLimit is gone: a burst may be twice the rate limit'],
    [{ webhookWaitSeconds: 90 }, 'Setting webhookWaitSeconds must exceed'],
    [{ deadlineSeconds: 1_499 }, 'Setting deadlineSeconds must be at least'],
    [{ reconcileReservedConcurrency: 99 }, 'Setting reconcileReservedConcurrency must be at least twice'],
    [{ apiRateLimit: 101 }, 'Setting webhookRateLimit must be at least apiRateLimit'],
    [
      {
        readers: Array.from(
          { length: 60 },
          (_, index) => `arn:aws:iam::111122223333:role/reader-of-extractions-${index}`,
        ),
      },
      'Setting readers must have at most 3,000 characters',
    ],
    [{ pollEverySeconds: 4 }, 'Setting pollEverySeconds must be at least 5'],
    [{ startRetryEverySeconds: 1 }, 'Setting startRetryEverySeconds must be at least 2'],
    [{ pollEverySeconds: 900 }, 'Setting pollEverySeconds must be below 900'],
    [{ pollEverySeconds: 5, deadlineSeconds: 86_400 }, 'history events, more than 10000'],
    [{ startRetryEverySeconds: 2, startWindowSeconds: 3_600 }, 'Setting startRetryEverySeconds is too short'],
    [{ entities: 'demo-bank:tef' }, 'Setting entities must be entities of the provider, without spaces'],
    [{ entities: Array.from({ length: 150 }, (_, index) => `bank-of-city-${index}`) }, 'at most 2,000 bytes'],
    [{ entities: 'one', watchedEntities: 'two' }, 'Setting watchedEntities must only have entities of'],
    [{ moreActions: 'bill:rut' }, 'Setting moreActions must be actions of the provider'],
    [{ moreActions: 'bill,bill:dateRange' }, 'Setting moreActions must name each action once'],
    [{ moreActions: 'tef:dateRange' }, 'which are always accepted'],
    [{ watchedEntities: 'A bank' }, 'Setting watchedEntities must be entities of the provider'],
    [{ watchedEntities: Array.from({ length: 21 }, (_, index) => `bank-${index}`) }, 'at most 20 entities'],
    [{ readers: 'ada' }, 'Setting readers must be'],
    [{ providerClientId: 'ours' }, 'Setting providerClientId must be the UUID'],
    [{ widgetConfigId: 'w' }, 'Setting widgetConfigId needs providerClientId'],
    [{ alarmTopicArn: 'on-call' }, 'Setting alarmTopicArn must be the ARN'],
    [
      { alarmTopicArn: 'arn:aws:sns:eu-west-1:111122223333:on-call.fifo' },
      'Setting alarmTopicArn must be the ARN of a standard',
    ],
    [{ runbookUrl: 'https://wiki.example/cosecha#top' }, 'Setting runbookUrl must be an https address'],
    [{ disableDefaultEndpoint: 'true' }, 'Setting disableDefaultEndpoint needs domainName'],
    [
      {
        domainName: 'api.example.com',
        certificateArn: 'arn:aws:acm:eu-west-1:111122223333:certificate/1',
        alarmTopicArn: 'arn:aws:sns:us-east-1:111122223333:on-call',
      },
      'certificateArn, alarmTopicArn and pageTopicArn must be of one region',
    ],
    [{ domainName: 'api.example.com' }, 'domainName and certificateArn'],
  ])('%o: %s', (settings, sentence) => {
    expect(refusal(settings)).toContain(sentence);
  });

  test('all problems at once', () => {
    expect(refusal({ stage: '1', pollEvery: 1, graceSeconds: 0 }).split('\n')).toHaveLength(3);
  });

  test('what contradicts each other beside a wrong value, and nothing that depends on it', () => {
    const retention = { resultsRetentionDays: 121 };
    expect(refusal({ ...retention, graceSeconds: 'soon' }).split('\n')).toEqual([
      expect.stringMatching(/^Setting graceSeconds must be a whole number/),
      expect.stringMatching(/^Setting resultsRetentionDays must not exceed recordRetentionDays/),
    ]);
    expect(refusal({ ...retention, resultsRetentionDays: 'soon' }).split('\n')).toHaveLength(1);
    expect(refusal({ providerBaseUrl: 'http://127.0.0.1', stage: '1' }).split('\n')).toHaveLength(1);
  });

  test('without a password that an address contains', () => {
    const message = refusal({ providerBaseUrl: 'https://ada:swordfish@p.example' });
    expect(message).toContain('must not carry a user name or password');
    expect(message).not.toContain('swordfish');
  });
});
