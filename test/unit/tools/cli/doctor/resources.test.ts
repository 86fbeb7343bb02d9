import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import type { LambdaClient } from '@aws-sdk/client-lambda';
import type { S3Client } from '@aws-sdk/client-s3';
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { SFNClient } from '@aws-sdk/client-sfn';
import { describe, expect, test } from 'vitest';
import { readRules } from '../../../../../tools/cli/aws/read-rules.ts';
import {
  checkBucket,
  checkConcurrency,
  checkConsumer,
  checkMachine,
  checkRules,
  checkSecret,
  checkTable,
} from '../../../../../tools/cli/doctor/check-resources.ts';
import { at } from '../../../../support/extraction-fixtures.ts';
import { fail, stubClient } from '../../../../support/stub-client.ts';

test.each([
  [404, 'results bucket B does not exist'],
  [403, 'no access to results bucket B'],
])('a results bucket that answers %d fails', async (httpStatusCode, message) => {
  const { client } = stubClient<S3Client>(() =>
    fail(Object.assign(new Error('Unknown'), { $metadata: { httpStatusCode } })),
  );
  expect(await checkBucket(client, 'B')).toMatchObject({ result: 'failed', message });
});

const check = (ConcurrentExecutions: number, reconcileConcurrency = 50) =>
  checkConcurrency(
    stubClient<LambdaClient>(() => ({ AccountLimit: { ConcurrentExecutions } })).client,
    reconcileConcurrency,
  );

test('the quota has to bear a full queue and 50 more', async () => {
  expect(await check(100)).toEqual({ result: 'passed', message: 'account may run 100 functions at once' });
  expect((await check(99)).result).toBe('failed');
  expect((await check(1_000, 951)).result).toBe('failed');
});

test('the quota of a new account fails, with the command that has it raised', async () => {
  expect(await check(10)).toMatchObject({
    result: 'failed',
    message: expect.stringContaining('may run 10 functions at once, where 100 are needed'),
    remedy: expect.stringContaining('aws service-quotas request-service-quota-increase'),
  });
});

describe('check-consumer', () => {
  const mapping = {
    UUID: 'u-1',
    EventSourceArn: 'arn:aws:sqs:eu-west-1:111122223333:reconcile',
    State: 'Enabled',
    ScalingConfig: { MaximumConcurrency: 50 },
  };
  const other = { ...mapping, UUID: 'u-2', EventSourceArn: 'arn:aws:sqs:eu-west-1:111122223333:other' };

  const check = async (...EventSourceMappings: readonly object[]) => {
    const { client, sent } = stubClient<LambdaClient>(() => ({ EventSourceMappings }));
    const finding = await checkConsumer(client, {
      functionName: 'reconcile-extraction',
      queueUrl: 'https://sqs.eu-west-1.amazonaws.com/111122223333/reconcile',
      concurrency: '50',
    });
    expect(sent).toMatchObject([{ input: { FunctionName: 'reconcile-extraction' } }]);
    return finding;
  };

  test.each([[[]], [[other]]])('without a mapping of this queue it fails: %j', async (mappings) => {
    expect(await check(...mappings)).toMatchObject({
      result: 'failed',
      message: 'nothing receives from the reconcile queue: its event source mapping is missing',
    });
  });

  test.each(['Disabled', 'Disabling'])(
    'a mapping that is %s fails, with the command that enables it',
    async (State) => {
      expect(await check({ ...mapping, State })).toEqual({
        result: 'failed',
        message: `reconcile queue: its event source mapping is ${State}`,
        remedy:
          'Results are not collected, and nothing is polled by consent. Run aws lambda update-event-source-mapping --uuid u-1 --enabled',
      });
    },
  );

  test.each([
    [{ MaximumConcurrency: 2 }, '2'],
    [undefined, 'unlimited'],
  ])('another concurrency than the setting fails: %j', async (ScalingConfig, shown) => {
    expect(await check({ ...mapping, ScalingConfig })).toEqual({
      result: 'failed',
      message: `reconcile queue: at most ${shown} consumers at once, where reconcileConcurrency is 50`,
      remedy:
        'It was changed outside the stack. Run aws lambda update-event-source-mapping --uuid u-1 --scaling-config MaximumConcurrency=50',
    });
  });
});

describe('check-machine', () => {
  const check = (status: string, failedAt: readonly Date[] = []) =>
    checkMachine(
      stubClient<SFNClient>(({ constructor: { name }, input }) =>
        name === 'DescribeStateMachineCommand'
          ? { status }
          : { executions: input.statusFilter === 'FAILED' ? failedAt.map((stopDate) => ({ stopDate })) : [] },
      ).client,
      'arn',
      at(10_000),
    );

  test('an ACTIVE machine passes, with the number of executions that broke within a day', async () => {
    expect(await check('ACTIVE')).toEqual({
      result: 'passed',
      message: 'machine is ACTIVE, and no execution broke within a day',
    });
    const message = 'machine is ACTIVE; 1 execution broke within a day, which the sweep queues';
    expect(await check('ACTIVE', [at(9_000), at(-100_000)])).toEqual({ result: 'passed', message });
  });

  test('a machine that is being deleted fails', async () => {
    expect(await check('DELETING')).toMatchObject({ result: 'failed', message: 'machine is DELETING' });
  });
});

describe('check-rules', () => {
  const sweep = { State: 'ENABLED', ScheduleExpression: 'rate(5 minutes)' };
  const broken = { State: 'ENABLED' };

  const check = async (rules: Record<string, object>) => {
    const { client } = stubClient<EventBridgeClient>(({ input }) => rules[String(input.Name)]);
    return checkRules(await readRules(client, Object.keys(rules)));
  };

  test.each([
    ['rate(5 minutes)', 5],
    ['rate(1 hour)', 60],
  ])(
    'enabled rules pass, with the schedule %s of the sweep in minutes',
    async (ScheduleExpression, minutes) => {
      expect(await check({ sweep: { ...sweep, ScheduleExpression }, broken })).toEqual({
        result: 'passed',
        message: `rules are ENABLED: the sweep every ${minutes} min, and 1 other`,
      });
    },
  );

  test('a disabled sweep fails, with the command that enables it', async () => {
    expect(await check({ sweep: { ...sweep, State: 'DISABLED' }, broken })).toEqual({
      result: 'failed',
      message: 'disabled: sweep',
      remedy: 'Without the sweep nothing is guaranteed to end. Run aws events enable-rule --name sweep',
    });
  });

  test('a disabled rule for broken executions fails, and its remedy names the lesser effect', async () => {
    expect(await check({ sweep, broken: { State: 'DISABLED' } })).toEqual({
      result: 'failed',
      message: 'disabled: broken',
      remedy:
        'Until it is enabled, broken executions wait for the sweep. Run aws events enable-rule --name broken',
    });
  });

  test('rules without a schedule fail', async () => {
    expect(await check({ broken })).toMatchObject({ result: 'failed', message: 'no rule has a schedule' });
  });
});

describe('check-secret', () => {
  const check = async (Versions: unknown) => {
    const { client, sent } = stubClient<SecretsManagerClient>(() => ({ Versions }));
    const secret = { name: 'S/key', label: 'key', remedy: 'run this' };
    return { finding: await checkSecret(client, secret, at(10_000)), sent };
  };

  test('a secret without a current version fails with the command that fills it', async () => {
    const expected = { result: 'failed', message: 'key is not filled (S/key)', remedy: 'run this' };
    expect((await check(undefined)).finding).toEqual(expected);
    const pending = [{ VersionStages: ['AWSPENDING'], CreatedDate: at(0) }];
    expect((await check(pending)).finding).toEqual(expected);
  });

  test('a filled secret passes with the ages of its versions', async () => {
    const versions = [
      { VersionStages: ['AWSPREVIOUS'], CreatedDate: at(0) },
      { VersionStages: ['AWSCURRENT'], CreatedDate: at(9_400) },
    ];
    expect((await check(versions)).finding).toEqual({
      result: 'passed',
      message: 'key was filled 10 min ago; the previous one, 2 h 46 min old, is AWSPREVIOUS',
    });
  });

  test('only the versions of a secret are read, never its value', async () => {
    const { sent } = await check([]);
    expect(sent.map(({ name }) => name)).toEqual(['ListSecretVersionIdsCommand']);
  });
});

describe('check-table', () => {
  const asDeployed = {
    TableStatus: 'ACTIVE',
    StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
    GlobalSecondaryIndexes: [
      { IndexName: 'due', IndexStatus: 'ACTIVE' },
      { IndexName: 'reference', IndexStatus: 'ACTIVE' },
    ],
  };

  const check = (table: object = {}, { ttl = 'ENABLED', pitr = 'ENABLED' } = {}, isPublic = true) =>
    checkTable(
      stubClient<DynamoDBClient>(({ constructor: { name } }) => {
        if (name === 'DescribeTableCommand') return { Table: { ...asDeployed, ...table } };
        if (name === 'DescribeTimeToLiveCommand') return { TimeToLiveDescription: { TimeToLiveStatus: ttl } };
        const PointInTimeRecoveryDescription = { PointInTimeRecoveryStatus: pitr };
        return { ContinuousBackupsDescription: { PointInTimeRecoveryDescription } };
      }).client,
      { name: 'T', label: 'T', isPublic },
    );

  test('a table passes as the stack makes it', async () => {
    expect(await check()).toEqual({
      result: 'passed',
      message: 'table T is ACTIVE, with TTL, stream, indexes and point-in-time recovery',
    });
  });

  test('a table that is not public needs neither stream, index nor point-in-time recovery', async () => {
    const bare = { StreamSpecification: undefined, GlobalSecondaryIndexes: undefined };
    expect(await check(bare, { pitr: 'DISABLED' }, false)).toEqual({
      result: 'passed',
      message: 'table T is ACTIVE, with TTL',
    });
  });

  const noBothImages = 'its stream is off, or does not have both images';

  test.each([
    ['it is UPDATING', { TableStatus: 'UPDATING' }, {}],
    [noBothImages, { StreamSpecification: undefined }, {}],
    [noBothImages, { StreamSpecification: { StreamViewType: 'KEYS_ONLY' } }, {}],
    ['the index reference is missing, or not ACTIVE', { GlobalSecondaryIndexes: [{ IndexName: 'due' }] }, {}],
    ['TTL is off', {}, { ttl: 'DISABLED' }],
    ['point-in-time recovery is off', {}, { pitr: 'DISABLED' }],
  ])('a table fails where %s', async (difference, table, settings) => {
    expect(await check(table, settings)).toMatchObject({
      result: 'failed',
      message: `table T: ${difference}`,
    });
  });
});
