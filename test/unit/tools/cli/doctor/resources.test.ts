import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type EventBridgeClient, ResourceNotFoundException } from '@aws-sdk/client-eventbridge';
import type { IAMClient } from '@aws-sdk/client-iam';
import type { KMSClient } from '@aws-sdk/client-kms';
import type { LambdaClient } from '@aws-sdk/client-lambda';
import type { S3Client } from '@aws-sdk/client-s3';
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { SFNClient } from '@aws-sdk/client-sfn';
import { describe, expect, test } from 'vitest';
import { fail, stubClient } from '#support/aws/stub-client.ts';
import { denied } from '#support/browser/console-fixtures.ts';
import { at } from '#support/data/extraction-fixtures.ts';
import type { Deployment } from '#tools/cli/aws/deployment.ts';
import { checkBoundary, checkKeys } from '#tools/cli/doctor/check-keys.ts';
import {
  checkBucket,
  checkConcurrency,
  checkEmulatorLoad,
  checkMachine,
  checkMapping,
  checkRules,
  checkStack,
  checkTable,
} from '#tools/cli/doctor/check-resources.ts';
import { checkSecret } from '#tools/cli/doctor/check-secrets.ts';
import { checksOf } from '#tools/cli/doctor/checks.ts';
import { runCheck } from '#tools/cli/doctor/finding.ts';
import { commandTextOf } from '#tools/cli/terminal/command-text.ts';

test.each([
  [404, 'results bucket B does not exist'],
  [403, 'no access to results bucket B'],
])('a results bucket that answers %d fails', async (httpStatusCode, message) => {
  const { client } = stubClient<S3Client>(() =>
    fail(Object.assign(new Error('Unknown'), { $metadata: { httpStatusCode } })),
  );
  expect(await checkBucket(client, 'B')).toMatchObject({ result: 'failed', message });
});

test('the quota has to bear two full queues of 50 each and 50 more', async () => {
  const check = (ConcurrentExecutions: number) =>
    checkConcurrency(stubClient<LambdaClient>(() => ({ AccountLimit: { ConcurrentExecutions } })).client, 50);
  const message = 'account may run 150 functions at once';
  expect(await check(150)).toMatchObject({ result: 'passed', message });
  expect(await check(149)).toMatchObject({
    result: 'failed',
    message: expect.stringContaining('149 functions at once, where 150 are needed'),
    remedy: expect.stringContaining('aws service-quotas request-service-quota-increase'),
  });
});

describe('check-mapping', () => {
  const reconcile = { name: 'reconcile queue', without: 'Nothing is collected.', functionName: 'reconcile' };
  const queue = { ...reconcile, source: 'arn:aws:sqs:eu-west-1:1:reconcile', atOnce: 50 };
  const bus = {
    name: 'bus',
    without: 'Nothing is published.',
    functionName: 'publish',
    source: 'arn:stream',
  };
  const ofQueue = {
    UUID: 'u-1',
    EventSourceArn: queue.source,
    State: 'Enabled',
    ScalingConfig: { MaximumConcurrency: 50 },
  };
  const slow = { ...ofQueue, UUID: 'u-2', EventSourceArn: 'arn:aws:sqs:eu-west-1:1:slow' };
  const ofBus = { UUID: 'u-3', EventSourceArn: bus.source, State: 'Enabled' };

  const clientWith = (EventSourceMappings: readonly object[]) =>
    stubClient<LambdaClient>(() => ({ EventSourceMappings }));

  test.each([
    [queue, 'reconcile queue has its consumer, at most 50 at once'],
    [bus, 'bus has its consumer'],
  ])('it is found by its function and its source: %j', async (trigger, message) => {
    const { client, sent } = clientWith([slow, ofQueue, ofBus]);
    expect(await checkMapping(client, trigger)).toEqual({ result: 'passed', message });
    expect(sent).toMatchObject([{ input: { FunctionName: trigger.functionName } }]);
  });

  const update = 'Nothing is collected. Run aws lambda update-event-source-mapping --uuid u-1';
  const unlike = (most: string) => `changed: at most ${most} at once, and not 50`;

  test.each([
    [[slow], 'missing', 'Nothing is collected. With the permissions to deploy, deploy the stack again'],
    [[{ ...ofQueue, State: 'Disabling' }], 'Disabling', `${update} --enabled`],
    [
      [{ ...ofQueue, ScalingConfig: { MaximumConcurrency: 2 } }],
      unlike('2'),
      `${update} --scaling-config MaximumConcurrency=50`,
    ],
    [[{ ...ofQueue, ScalingConfig: undefined }], unlike('unlimited'), update],
  ])('the mappings %j fail, with a repair', async (mappings, problem, remedy) => {
    expect(await checkMapping(clientWith(mappings).client, queue)).toMatchObject({
      result: 'failed',
      message: `reconcile queue: its event source mapping is ${problem}`,
      remedy: expect.stringContaining(remedy),
    });
  });
});

const oneBroke = 'machine is ACTIVE; 1 execution broke within a day, which the sweep queues';

test.each([
  ['ACTIVE', [], 'passed', 'machine is ACTIVE, and no execution broke within a day'],
  ['ACTIVE', [at(9_000), at(-100_000)], 'passed', oneBroke],
  ['DELETING', [], 'failed', 'machine is DELETING'],
])('a machine that is %s, whose executions failed at %j, %s', async (status, failedAt, result, message) => {
  const { client } = stubClient<SFNClient>(({ constructor: { name }, input }) =>
    name === 'DescribeStateMachineCommand'
      ? { status }
      : { executions: input.statusFilter === 'FAILED' ? failedAt.map((stopDate) => ({ stopDate })) : [] },
  );
  expect(await checkMachine(client, 'arn', at(10_000))).toMatchObject({ result, message });
});

const pending = { KeyState: 'PendingDeletion', DeletionDate: at(17_200) };

test.each([
  [{}, 'passed', 'data key and seal key are Enabled'],
  [{ 'arn:seal': { KeyState: 'Disabled' } }, 'failed', 'seal key is Disabled'],
  [{ 'arn:data': pending }, 'failed', 'data key is PendingDeletion, to be deleted in 2 h'],
])('keys whose states are %j', async (states, result, message) => {
  const { client } = stubClient<KMSClient>(({ input: { KeyId } }) => ({
    KeyMetadata: Object(states)[String(KeyId)] ?? { KeyState: 'Enabled' },
  }));
  const keys = { 'data key': 'arn:data', 'seal key': 'arn:seal' };
  const finding = await checkKeys(client, keys, at(10_000));
  expect(finding).toMatchObject({ result, message });
  const [key] = Object.keys(states);
  if (key !== undefined)
    expect(finding).toMatchObject({ remedy: expect.stringMatching(`enable-key --key-id ${key}$`) });
});

test.each([
  [undefined, 'passed', 'no permissions boundary limits the roles'],
  [[true, true], 'passed', 'permissions boundary allows the use of the seal key'],
  [[true, false], 'failed', 'permissions boundary does not allow kms:Decrypt on the seal key'],
])('a boundary that allows %j', async (allowed, result, message) => {
  const { client, sent } = stubClient<IAMClient>(({ input }) => ({
    EvaluationResults: (input.ActionNames as string[]).map((EvalActionName, index) => ({
      EvalActionName,
      EvalDecision: 'implicitDeny',
      ...(allowed && { PermissionsBoundaryDecisionDetail: { AllowedByPermissionsBoundary: allowed[index] } }),
    })),
  }));
  expect(await checkBoundary(client, 'arn:role', 'arn:seal')).toMatchObject({ result, message });
  expect(sent[0]?.input).toMatchObject({ PolicySourceArn: 'arn:role', ResourceArns: ['arn:seal'] });
});

describe('check-rules', () => {
  const rules = [
    { name: 'sweep', without: 'Nothing is guaranteed to end.', rule: 'sweep-1' },
    { name: 'dispatch', without: 'Starts in line wait.', rule: 'dispatch-1' },
  ];
  const on = { State: 'ENABLED', ScheduleExpression: 'rate(1 minute)' };
  const off = { ...on, State: 'DISABLED' };
  const enable = 'Run aws events enable-rule --name';

  test.each<[object, string, string, string?]>([
    [{ 'sweep-1': on, 'dispatch-1': on }, 'passed', 'rules are ENABLED: sweep, dispatch'],
    [
      { 'dispatch-1': on },
      'failed',
      'the rule of sweep is missing',
      'Nothing is guaranteed to end. With the perm',
    ],
    [
      { 'sweep-1': on, 'dispatch-1': off },
      'failed',
      'the rule of dispatch is disabled',
      `Starts in line wait. ${enable} dispatch-1`,
    ],
    [
      { 'sweep-1': off, 'dispatch-1': on },
      'failed',
      'the rule of sweep is disabled',
      `Nothing is guaranteed to end. ${enable} sweep-1`,
    ],
  ])('each rule is found by what it is: %j have %s: %s', async (states, result, message, remedy = '') => {
    const { client } = stubClient<EventBridgeClient>(({ input }) => {
      const found = Object(states)[String(input.Name)];
      return found ?? fail(new ResourceNotFoundException({ message: 'gone', $metadata: {} }));
    });
    const found = await checkRules(client, rules);
    expect(found).toMatchObject({ result, message });
    if (found.result === 'failed') expect(found.remedy).toContain(remedy);
  });
});

const unfilled = { result: 'failed', message: 'key is not filled (S/key)', remedy: 'run this' };

const message = 'key was filled 10 min ago; the previous one, 2 h 46 min old, is AWSPREVIOUS';
const version = (stage: string, seconds: number) => ({ VersionStages: [stage], CreatedDate: at(seconds) });

test.each([
  [undefined, unfilled],
  [[version('AWSPENDING', 0)], unfilled],
  [[version('AWSPREVIOUS', 0), version('AWSCURRENT', 9_400)], { result: 'passed', message }],
])(
  'only the versions of a generated secret are read, never its value: %j is %j',
  async (Versions, finding) => {
    const { client, sent } = stubClient<SecretsManagerClient>(() => ({ Versions }));
    const secret = { name: 'S/key', label: 'key', kind: 'generated', remedy: 'run this' } as const;
    expect(await checkSecret(client, secret, at(10_000))).toEqual(finding);
    expect(sent.map(({ name }) => name)).toEqual(['ListSecretVersionIdsCommand']);
  },
);

describe('the shape of a secret', () => {
  const check = (kind: 'API key' | 'signing key', value: string | Error) => {
    const { client } = stubClient<SecretsManagerClient>(({ constructor: { name } }) => {
      if (name === 'ListSecretVersionIdsCommand') return { Versions: [version('AWSCURRENT', 9_400)] };
      if (value instanceof Error) throw value;
      return { SecretString: value };
    });
    return checkSecret(client, { name: 'S/key', label: 'key', kind, remedy: 'run this' }, at(10_000));
  };
  const filled = 'key was filled 10 min ago';

  test.each([
    ['API key', 'k3y-sentinel\n', `${filled}, in one piece`],
    ['signing key', 'pass phrase: sentinel', `${filled}, in one piece`],
    ['signing key', '{"webhook-signing-key":"sentinel"}', /is JSON, as the console/],
    ['API key', 'señal-sentinel', /has a space, or another character/],
  ] as const)('of the %s %j is reported, and nothing of its value: %s', async (kind, value, expected) => {
    const found = await check(kind, value);
    expect(found).toMatchObject({
      result: typeof expected === 'string' ? 'passed' : 'failed',
      message: typeof expected === 'string' ? expected : expect.stringMatching(expected),
    });
    expect(JSON.stringify(found)).not.toContain('sentinel');
  });

  test('is not checked for somebody who may not read it, and other errors are not hidden', async () => {
    const denied = Object.assign(new Error('denied'), { name: 'AccessDeniedException' });
    expect(await check('API key', denied)).toEqual({
      result: 'passed',
      message: `${filled}; its shape was not checked, as you may not read it`,
    });
    await expect(check('API key', new Error('down'))).rejects.toThrow('down');
    expect(await check('API key', '')).toEqual(unfilled);
  });
});

describe('check-table', () => {
  const asDeployed = {
    TableStatus: 'ACTIVE',
    StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
    GlobalSecondaryIndexes: ['due', 'reference', 'batch'].map((IndexName) => ({ IndexName })),
  };

  const check = (
    table: object = {},
    { ttl = 'ENABLED', pitr = 'ENABLED', isMiniStack = false } = {},
    isPublic = true,
  ) =>
    checkTable(
      stubClient<DynamoDBClient>(({ constructor: { name } }) => {
        if (name === 'DescribeTableCommand') return { Table: { ...asDeployed, ...table } };
        if (name === 'DescribeTimeToLiveCommand') return { TimeToLiveDescription: { TimeToLiveStatus: ttl } };
        const PointInTimeRecoveryDescription = { PointInTimeRecoveryStatus: pitr };
        return { ContinuousBackupsDescription: { PointInTimeRecoveryDescription } };
      }).client,
      {
        name: 'T',
        label: 'T',
        isPublic,
        isMiniStack,
        indexes: isPublic ? ['due', 'reference', 'batch'] : [],
      },
    );

  test('a table passes as the stack makes it, and one that is not public needs less', async () => {
    const message = 'table T is ACTIVE, with TTL';
    const more = ', stream, indexes and point-in-time recovery';
    expect(await check()).toEqual({ result: 'passed', message: `${message}${more}` });
    const bare = { StreamSpecification: undefined, GlobalSecondaryIndexes: undefined };
    expect(await check(bare, { pitr: 'DISABLED' }, false)).toEqual({ result: 'passed', message });
  });

  const twoIndexes = asDeployed.GlobalSecondaryIndexes.slice(0, 2);
  const keysOnly = { StreamSpecification: { StreamViewType: 'KEYS_ONLY' } };

  test.each([
    ['it is UPDATING', { TableStatus: 'UPDATING' }, {}],
    ['its stream is off, or does not have both images', keysOnly, {}],
    ['the index batch is missing, or not ACTIVE', { GlobalSecondaryIndexes: twoIndexes }, {}],
    ['TTL is off', {}, { ttl: 'DISABLED' }],
    ['point-in-time recovery is off', {}, { pitr: 'DISABLED' }],
  ])('a table fails where %s', async (difference, table, settings) => {
    const message = `table T: ${difference}`;
    const remedy = /^It was changed outside the stack\./;
    expect(await check(table, settings)).toMatchObject({
      result: 'failed',
      message,
      remedy: expect.stringMatching(remedy),
    });
    const onEmulator = await check(table, { ...settings, isMiniStack: true });
    const isIgnored = Object.keys(settings).length > 0;
    expect(onEmulator).toMatchObject(
      isIgnored
        ? { result: 'skipped', message: `${message}, as the emulator ignores that` }
        : { result: 'failed', remedy: expect.stringMatching(remedy) },
    );
  });
});

const deployment = {
  client: { region: 'eu-west-1' },
  output: (name: string) => name,
  findOutput: () => undefined,
  api: {},
} as unknown as Deployment;
const checks = () => checksOf(deployment, {}, new Date(0));

test('an emulator on a machine with too much work is noted with the numbers, and fails nothing', () => {
  expect(checkEmulatorLoad(4, 2).result).toBe('passed');
  expect(checkEmulatorLoad(24.24, 2)).toMatchObject({
    result: 'skipped',
    message: expect.stringContaining('24.2 processes for 2 processors'),
  });
});

test('the provider is checked on request only', async () => {
  const check = checks().find(({ id }) => id === 'provider');
  const message = 'provider: skipped; --provider logs in once with the API key';
  expect(await check?.run()).toEqual({ result: 'skipped', message });
});

test('a check that throws fails with the reason, so that the other checks still run', async () => {
  const run = () => denied('sqs:GetQueueAttributes');
  expect(await runCheck({ id: 'dead-letters', run }, commandTextOf())).toEqual({
    result: 'failed',
    message: 'dead-letters: could not be checked',
    remedy: expect.stringContaining('sqs:GetQueueAttributes'),
  });
});

test.each([
  ['UPDATE_COMPLETE', 'passed'],
  ['UPDATE_ROLLBACK_COMPLETE', 'failed'],
  ['UPDATE_IN_PROGRESS', 'skipped'],
])('a stack in %s is %s', (status, result) => {
  expect(checkStack('S', status).result).toBe(result);
});
