import type { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import type { S3Client } from '@aws-sdk/client-s3';
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { SFNClient } from '@aws-sdk/client-sfn';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, test } from 'vitest';
import { checkAlarms } from '../../../../../lib/cli/doctor/check-alarms.ts';
import { checkBucket } from '../../../../../lib/cli/doctor/check-bucket.ts';
import { checkDeadLetters } from '../../../../../lib/cli/doctor/check-dead-letters.ts';
import { checkFanOut } from '../../../../../lib/cli/doctor/check-fan-out.ts';
import { checkMachine } from '../../../../../lib/cli/doctor/check-machine.ts';
import { checkOverdue } from '../../../../../lib/cli/doctor/check-overdue.ts';
import { checkProvider } from '../../../../../lib/cli/doctor/check-provider.ts';
import { checkRules, readRules } from '../../../../../lib/cli/doctor/check-rules.ts';
import { checkSecret } from '../../../../../lib/cli/doctor/check-secret.ts';
import { checkStack } from '../../../../../lib/cli/doctor/check-stack.ts';
import { checkSweep } from '../../../../../lib/cli/doctor/check-sweep.ts';
import { checkTable } from '../../../../../lib/cli/doctor/check-table.ts';
import { checkWebhook } from '../../../../../lib/cli/doctor/check-webhook.ts';
import { foundBy } from '../../../../../lib/cli/doctor/finding.ts';
import { signaturePattern } from '../../../../../lib/provider/assumptions.ts';
import { startSandbox } from '../../../../sandbox/sandbox.ts';
import { at, extractionIn, iso, timings } from '../../../../support/extraction-fixtures.ts';
import { fail, stubClient } from '../../../../support/stub-client.ts';

const now = at(10_000);

test('a stack whose last deployment failed is wrong, and one on its way is not judged', () => {
  expect(checkStack('S', 'UPDATE_COMPLETE').result).toBe('passed');
  expect(checkStack('S', 'UPDATE_ROLLBACK_COMPLETE').result).toBe('failed');
  expect(checkStack('S', 'UPDATE_IN_PROGRESS').result).toBe('skipped');
});

describe('a secret', () => {
  const check = (Versions: unknown) =>
    checkSecret(
      stubClient<SecretsManagerClient>(() => ({ Versions })).client,
      { name: 'S/key', what: 'key', fillWith: 'run this' },
      now,
    );

  test('without a version is not filled, and it is said how to fill it', async () => {
    expect(await check(undefined)).toEqual({
      result: 'failed',
      message: 'key is not filled (S/key)',
      remedy: 'run this',
    });
    expect(await check([{ VersionStages: ['AWSPENDING'], CreatedDate: at(0) }])).toMatchObject({
      result: 'failed',
    });
  });

  test('tells the ages of both its versions', async () => {
    const versions = [
      { VersionStages: ['AWSPREVIOUS'], CreatedDate: at(0) },
      { VersionStages: ['AWSCURRENT'], CreatedDate: at(9_400) },
    ];
    expect((await check(versions)).message).toBe(
      'key is filled, 10 min ago; the one before it, 2 h 46 min old, is kept as AWSPREVIOUS',
    );
  });

  test('is asked for its versions only, never for its value', async () => {
    const { client, sent } = stubClient<SecretsManagerClient>(() => ({}));
    await checkSecret(client, { name: 'S/key', what: 'key', fillWith: '' }, now);
    expect(sent.map(({ name }) => name)).toEqual(['ListSecretVersionIdsCommand']);
  });
});

describe('the webhook', () => {
  const check = (status: number, seen: RequestInit[] = []) =>
    checkWebhook(async (_url, init) => {
      seen.push(init);
      return new Response(null, { status });
    }, 'https://hook.example/webhooks/provider');

  test('is right where it refuses a well-formed signature of no key', async () => {
    const seen: RequestInit[] = [];
    const finding = await check(401, seen);
    expect(finding).toMatchObject({ result: 'passed' });
    expect(finding.message).toContain('https://hook.example/webhooks/provider');
    const headers = seen[0]?.headers as Record<string, string>;
    expect(headers['x-service-signature']).toMatch(signaturePattern);
  });

  test.each([
    [503, /no signing key/],
    [502, /fails/],
    [404, /answers 404, not 401/],
    [204, /nobody signed/],
  ])('is wrong where it answers %d', async (status, says) => {
    const finding = await check(status);
    expect(finding).toMatchObject({ result: 'failed' });
    expect(finding.message).toMatch(says);
  });

  test('is wrong where nobody answers', async () => {
    const finding = await checkWebhook(() => fail(new TypeError('fetch failed')), 'https://hook.example');
    expect(finding).toMatchObject({
      result: 'failed',
      message: 'webhook https://hook.example does not answer',
    });
  });
});

describe('the machine', () => {
  const check = (status: string, executions: readonly unknown[]) =>
    checkMachine(
      stubClient<SFNClient>((command) =>
        command.constructor.name === 'DescribeStateMachineCommand'
          ? { status }
          : { executions: command.input.statusFilter === 'FAILED' ? executions : [] },
      ).client,
      'arn',
      now,
    );

  test('is right while ACTIVE, and tells what broke within a day', async () => {
    expect((await check('ACTIVE', [])).message).toBe(
      'machine is ACTIVE, and no execution broke within a day',
    );
    const two = [{ stopDate: at(9_000) }, { stopDate: at(-100_000) }];
    expect((await check('ACTIVE', two)).message).toMatch(/^machine is ACTIVE; 1 executions broke/);
  });

  test('is wrong while it is deleted', async () => {
    expect(await check('DELETING', [])).toMatchObject({ result: 'failed' });
  });
});

describe('the public table', () => {
  const good = {
    TableStatus: 'ACTIVE',
    StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
    GlobalSecondaryIndexes: [{ IndexName: 'due', IndexStatus: 'ACTIVE' }],
  };
  const check = (over: object = {}, { ttl = 'ENABLED', pitr = 'ENABLED' } = {}) =>
    checkTable(
      stubClient<DynamoDBClient>(({ constructor: { name } }) => {
        if (name === 'DescribeTableCommand') return { Table: { ...good, ...over } };
        if (name === 'DescribeTimeToLiveCommand') return { TimeToLiveDescription: { TimeToLiveStatus: ttl } };
        return {
          ContinuousBackupsDescription: {
            PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: pitr },
          },
        };
      }).client,
      { name: 'T', what: 'Extractions', isContract: true },
    );

  test('is right as the stack makes it', async () => {
    expect(await check()).toMatchObject({ result: 'passed' });
  });

  test.each([
    ['it is UPDATING', { TableStatus: 'UPDATING' }, {}],
    ['its stream is off, or not of both images', { StreamSpecification: undefined }, {}],
    [
      'its stream is off, or not of both images',
      { StreamSpecification: { StreamViewType: 'KEYS_ONLY' } },
      {},
    ],
    ['the index due is gone, or not ACTIVE', { GlobalSecondaryIndexes: [] }, {}],
    ['TTL is off', {}, { ttl: 'DISABLED' }],
    ['point-in-time recovery is off', {}, { pitr: 'DISABLED' }],
  ])('is wrong where %s', async (says, over, backups) => {
    expect(await check(over, backups)).toMatchObject({
      result: 'failed',
      message: `table Extractions: ${says}`,
    });
  });
});

test.each([
  [404, /is gone/],
  [403, /is closed to you/],
])('a results bucket that answers %d is wrong', async (httpStatusCode, says) => {
  const { client } = stubClient<S3Client>(() =>
    fail(Object.assign(new Error('Unknown'), { $metadata: { httpStatusCode } })),
  );
  const finding = await checkBucket(client, 'B');
  expect(finding).toMatchObject({ result: 'failed' });
  expect(finding.message).toMatch(says);
});

describe('the rules', () => {
  const read = (states: Record<string, object>) =>
    readRules(
      stubClient<EventBridgeClient>(({ input }) => states[String(input.Name)]).client,
      Object.keys(states),
    );
  const sweep = { State: 'ENABLED', ScheduleExpression: 'rate(5 minutes)' };

  test('are right while they are on', async () => {
    expect(checkRules(await read({ sweep, broken: { State: 'ENABLED' } }))).toEqual({
      result: 'passed',
      message: 'rules are ENABLED: the sweep every 5 min, and 1 other',
    });
  });

  test('are right where the sweep is an hourly one, which AWS is told as `rate(1 hour)`', async () => {
    const hourly = { ...sweep, ScheduleExpression: 'rate(1 hour)' };
    expect(checkRules(await read({ sweep: hourly, broken: { State: 'ENABLED' } }))).toEqual({
      result: 'passed',
      message: 'rules are ENABLED: the sweep every 60 min, and 1 other',
    });
  });

  test('are wrong where the sweep is disabled, with the command that enables it', async () => {
    const rules = await read({ sweep: { ...sweep, State: 'DISABLED' }, broken: { State: 'ENABLED' } });
    expect(checkRules(rules)).toEqual({
      result: 'failed',
      message: 'disabled: sweep',
      remedy: 'Without the sweep nothing is guaranteed to end. Run aws events enable-rule --name sweep',
    });
  });

  test('are wrong where that for broken executions is disabled, which costs less', async () => {
    const finding = checkRules(await read({ sweep, broken: { State: 'DISABLED' } }));
    expect(finding).toMatchObject({ result: 'failed', message: 'disabled: broken' });
    expect(JSON.stringify(finding)).toContain('wait for the sweep');
  });

  test('are wrong where none has a schedule', async () => {
    expect(checkRules(await read({ broken: { State: 'ENABLED' } }))).toMatchObject({ result: 'failed' });
  });
});

describe('the sweep', () => {
  const check = (Datapoints: readonly unknown[]) => {
    const { client, sent } = stubClient<CloudWatchClient>(() => ({ Datapoints }));
    return { finding: checkSweep(client, 'prod', 5, now), sent };
  };

  test('is right where its metric was counted within three intervals', async () => {
    const { finding, sent } = check([
      { Timestamp: at(9_500), Sum: 1 },
      { Timestamp: at(9_880), Sum: 1 },
    ]);
    expect(await finding).toEqual({ result: 'passed', message: 'last sweep 2 min ago' });
    expect(sent[0]?.input).toMatchObject({
      Namespace: 'Cosecha/prod',
      MetricName: 'SweepFinished',
      // As the EMF says it: test/unit/lib/observability/observability.test.ts.
      Dimensions: [{ Name: 'service', Value: 'cosecha' }],
      StartTime: at(9_100),
    });
  });

  test('is wrong where it was not', async () => {
    expect(await check([]).finding).toMatchObject({
      result: 'failed',
      message: 'no sweep has ended within 15 min',
    });
  });

  test('is wrong where it began only: that counts as 0 ended', async () => {
    const { finding } = check([{ Timestamp: at(9_880), Sum: 0 }]);
    expect(await finding).toMatchObject({ result: 'failed', message: 'no sweep has ended within 15 min' });
  });
});

describe('what is overdue', () => {
  const due = (late: number) => extractionIn('RUNNING', { dueAt: iso(10_000 - late) });

  test('is right as long as the sweep may still come for it', () => {
    expect(checkOverdue([], 5, now)).toEqual({
      result: 'passed',
      message: 'nothing that is open is overdue',
    });
    expect(checkOverdue([due(900)], 5, now)).toMatchObject({ result: 'passed' });
  });

  test('is wrong after three intervals, and names the oldest', () => {
    const finding = checkOverdue([due(100), due(901)], 5, now);
    expect(finding).toMatchObject({ result: 'failed' });
    expect(finding.message).toMatch(/^2 overdue; the most overdue, .*, by 15 min 1 s$/);
  });
});

test('dead letters are wrong, hidden ones too', async () => {
  const check = (Attributes: object) =>
    checkDeadLetters(stubClient<SQSClient>(() => ({ Attributes })).client, 'url');
  expect(
    await check({ ApproximateNumberOfMessages: '0', ApproximateNumberOfMessagesNotVisible: '0' }),
  ).toMatchObject({
    result: 'passed',
  });
  expect(
    await check({ ApproximateNumberOfMessages: '1', ApproximateNumberOfMessagesNotVisible: '2' }),
  ).toMatchObject({
    result: 'failed',
    message: 'dead-letter queue holds 3',
  });
});

describe('the bus', () => {
  const check = (urls: readonly string[], ApproximateNumberOfMessages = '0') => {
    const { client, sent } = stubClient<SQSClient>(() => ({ Attributes: { ApproximateNumberOfMessages } }));
    return { finding: checkFanOut(client, urls, 'https://own'), sent };
  };

  test('is skipped where there is none: the only queue is that of the sweep', async () => {
    const { finding, sent } = check(['https://own']);
    expect(await finding).toEqual({
      result: 'skipped',
      message: 'bus: there is none, fanOutToEventBus is off',
    });
    expect(sent).toEqual([]);
  });

  test('lacks what the pipe gave up', async () => {
    const { finding, sent } = check(['https://own', 'https://of-the-pipe'], '4');
    expect(await finding).toMatchObject({ result: 'failed', message: 'bus: the pipe gave up 4 batches' });
    expect(sent[0]?.input).toMatchObject({ QueueUrl: 'https://of-the-pipe' });
    expect(await check(['https://of-the-pipe', 'https://own']).finding).toMatchObject({ result: 'passed' });
  });
});

test('a ringing alarm is wrong', async () => {
  const check = (MetricAlarms: readonly object[]) =>
    checkAlarms(stubClient<CloudWatchClient>(() => ({ MetricAlarms })).client, ['a', 'b']);
  expect(await check([])).toEqual({ result: 'passed', message: 'none of 2 alarms is ringing' });
  expect(await check([{ AlarmName: 'a' }])).toMatchObject({ result: 'failed', message: 'ringing: a' });
});

describe('the provider', () => {
  const settings = (providerBaseUrl: string) => ({
    ...{ timings, timeout: 60, providerBaseUrl },
    providerTimeouts: { connect: 1_000, total: 2_000 },
  });
  const holding = (SecretString: string) => stubClient<SecretsManagerClient>(() => ({ SecretString })).client;

  test('takes the right API key, and refuses another', async () => {
    const sandbox = await startSandbox({ clients: [{ clientId: 'c', apiKey: 'right-key' }] });
    try {
      const check = (key: string) => checkProvider(holding(key), 'S/key', settings(sandbox.baseUrl));
      expect(await check('right-key')).toMatchObject({ result: 'passed' });
      expect(await check('other-key')).toMatchObject({ result: 'failed' });
      expect(await check('')).toMatchObject({ result: 'skipped' });
    } finally {
      await sandbox.close();
    }
  });

  test('is wrong where it is out of reach', async () => {
    const finding = await checkProvider(holding('key'), 'S/key', settings('http://127.0.0.1:9'));
    expect(finding.message).toBe('provider http://127.0.0.1:9 is out of reach from this machine');
  });
});

test('a check that cannot be made is a finding, so that the others go on', async () => {
  const denied = Object.assign(new Error('User: u is not authorized to perform: sqs:GetQueueAttributes'), {
    name: 'AccessDenied',
  });
  expect(await foundBy('queue', () => fail(denied))).toMatchObject({
    result: 'failed',
    message: 'queue: could not be checked',
    remedy: expect.stringContaining('sqs:GetQueueAttributes'),
  });
});
