import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  type GlobalSecondaryIndexDescription,
} from '@aws-sdk/client-dynamodb';
import type { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import {
  type EventSourceMappingConfiguration,
  GetAccountSettingsCommand,
  type LambdaClient,
  ListEventSourceMappingsCommand,
} from '@aws-sdk/client-lambda';
import { HeadBucketCommand, type S3Client } from '@aws-sdk/client-s3';
import { DescribeStateMachineCommand, ListExecutionsCommand, type SFNClient } from '@aws-sdk/client-sfn';
import type { MappingTrigger, RuleTrigger } from '../../../lib/aws/trigger.ts';
import { readRule } from '../aws/read-rule.ts';
import { plural } from '../terminal/plural.ts';
import { type Found, failed, passed, skipped } from './finding.ts';

export const checkStack = (name: string, status: string): Found => {
  if (/^(CREATE|UPDATE|IMPORT)_COMPLETE$/.test(status)) return passed(`stack ${name} is ${status}`);
  if (status.endsWith('_IN_PROGRESS')) {
    return skipped(`stack ${name} is ${status}; run doctor again when it is done`);
  }
  return failed(
    `stack ${name} is ${status}`,
    'Its last deployment failed. Its events in CloudFormation have the cause. Deploy it again.',
  );
};

/** `isPublic`: it has a stream and a backup. `indexes`: those that it needs. */
export type Table = {
  readonly name: string;
  readonly label: string;
  readonly isPublic?: boolean;
  readonly indexes?: readonly string[];
  /** The emulator's CloudFormation ignores both settings, which `npm start` adds to its own stack. */
  readonly isMiniStack?: boolean;
};

const remedy = 'It was changed outside the stack. Deploy the stack again, or undo the change.';

export const checkTable = async (
  client: DynamoDBClient,
  { name, label, isPublic = false, indexes = [], isMiniStack = false }: Table,
) => {
  const [{ Table }, { TimeToLiveDescription }] = await Promise.all([
    client.send(new DescribeTableCommand({ TableName: name })),
    client.send(new DescribeTimeToLiveCommand({ TableName: name })),
  ]);
  const usable = Table?.GlobalSecondaryIndexes?.filter(isUsable).map(({ IndexName }) => IndexName) ?? [];
  const unusable = indexes.filter((index) => !usable.includes(index));
  const missing = [
    ...(Table?.TableStatus === 'ACTIVE' ? [] : [`it is ${String(Table?.TableStatus)}`]),
    ...(/^ENABL/.test(TimeToLiveDescription?.TimeToLiveStatus ?? '') ? [] : ['TTL is off']),
    ...(!isPublic || Table?.StreamSpecification?.StreamViewType === 'NEW_AND_OLD_IMAGES'
      ? []
      : ['its stream is off, or does not have both images']),
    ...unusable.map((index) => `the index ${index} is missing, or not ACTIVE`),
    ...(!isPublic || (await isRecoverable(client, name)) ? [] : ['point-in-time recovery is off']),
  ];
  if (missing.length > 0) {
    const found = `table ${label}: ${missing.join(', ')}`;
    const isIgnored =
      isMiniStack && missing.every((one) => /^(TTL|point-in-time recovery) is off$/.test(one));
    return isIgnored ? skipped(`${found}, as the emulator ignores that`) : failed(found, remedy);
  }
  return passed(
    `table ${label} is ACTIVE, with TTL${isPublic ? ', stream, indexes and point-in-time recovery' : ''}`,
  );
};

/** Some emulators give an index no status. */
const isUsable = ({ IndexStatus = 'ACTIVE' }: GlobalSecondaryIndexDescription): boolean =>
  IndexStatus === 'ACTIVE';

const isRecoverable = async (client: DynamoDBClient, TableName: string): Promise<boolean> => {
  const { ContinuousBackupsDescription } = await client.send(
    new DescribeContinuousBackupsCommand({ TableName }),
  );
  return (
    ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus === 'ENABLED'
  );
};

export const checkBucket = async (client: S3Client, Bucket: string): Promise<Found> => {
  try {
    await client.send(new HeadBucketCommand({ Bucket }));
    return passed('results bucket is reachable');
  } catch (error) {
    // An answer to HEAD has no body, so the SDK knows no more than its status.
    const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
    if (status === 404) {
      return failed(
        `results bucket ${Bucket} does not exist`,
        'Deploy the stack again. Until then no results can be collected.',
      );
    }
    if (status === 403)
      return failed(`no access to results bucket ${Bucket}`, 'You need s3:ListBucket on it.');
    throw error;
  }
};

const DAY_MS = 86_400_000;
const brokenStatuses = ['FAILED', 'TIMED_OUT', 'ABORTED'] as const;

/** Of each status: more need not be counted. */
const maxCounted = 100;

/** Fails unless the machine is ACTIVE. Counts the executions that broke within a day, which the sweep queues. */
export const checkMachine = async (client: SFNClient, stateMachineArn: string, now: Date) => {
  const { status } = await client.send(new DescribeStateMachineCommand({ stateMachineArn }));
  if (status !== 'ACTIVE') {
    return failed(`machine is ${String(status)}`, 'Nothing can be started. Deploy the stack again.');
  }
  const broken = await Promise.all(
    brokenStatuses.map(async (statusFilter) => {
      const { executions = [] } = await client.send(
        new ListExecutionsCommand({ stateMachineArn, statusFilter, maxResults: maxCounted }),
      );
      return executions.filter(({ stopDate }) => (stopDate?.getTime() ?? 0) > now.getTime() - DAY_MS);
    }),
  );
  const count = broken.flat().length;
  if (count === 0) return passed('machine is ACTIVE, and no execution broke within a day');
  return passed(
    `machine is ACTIVE; ${plural(count, 'execution')} broke within a day, which the sweep queues`,
  );
};

/** CloudFormation makes again what is gone only if it looks for it. */
const again = 'With the permissions to deploy, deploy the stack again with --revert-drift.';

/** Fails where a rule of the deployment is missing or off. */
export const checkRules = async (
  client: EventBridgeClient,
  rules: readonly RuleTrigger[],
): Promise<Found> => {
  const states = await Promise.all(
    rules.map(async ({ rule, ...its }) => {
      const found = await readRule(client, rule);
      const problem = found === undefined ? 'missing' : found.enabled ? undefined : 'disabled';
      return {
        ...its,
        problem,
        remedy: problem === 'missing' ? again : `Run aws events enable-rule --name ${rule}`,
      };
    }),
  );
  const broken = states.filter(({ problem }) => problem !== undefined);
  if (broken.length === 0) return passed(`rules are ENABLED: ${rules.map(({ name }) => name).join(', ')}`);
  return failed(
    broken.map(({ name, problem }) => `the rule of ${name} is ${problem}`).join('; '),
    broken.map(({ without, remedy }) => `${without} ${remedy}`).join(' '),
  );
};

const update = (uuid: string, option: string): string =>
  `Run aws lambda update-event-source-mapping --uuid ${uuid} ${option}`;

/** What is wrong with a mapping, and what repairs it. */
const judgeMapping = (
  { atOnce }: MappingTrigger,
  mapping: EventSourceMappingConfiguration | undefined,
): { readonly problem: string | undefined; readonly remedy: string } => {
  if (mapping === undefined) return { problem: 'missing', remedy: again };
  const { UUID = '', State = '', ScalingConfig } = mapping;
  if (/^Disabl/.test(State)) return { problem: State, remedy: update(UUID, '--enabled') };
  const most = ScalingConfig?.MaximumConcurrency;
  const problem =
    most === atOnce ? undefined : `changed: at most ${most ?? 'unlimited'} at once, and not ${atOnce}`;
  return { problem, remedy: update(UUID, `--scaling-config MaximumConcurrency=${atOnce}`) };
};

/** Fails where the event source mapping of a function is missing, off or changed. */
export const checkMapping = async (client: LambdaClient, trigger: MappingTrigger): Promise<Found> => {
  const { name, without, functionName, source, atOnce } = trigger;
  const list = new ListEventSourceMappingsCommand({ FunctionName: functionName });
  const { EventSourceMappings = [] } = await client.send(list);
  const its = EventSourceMappings.find(({ EventSourceArn }) => EventSourceArn === source);
  const { problem, remedy } = judgeMapping(trigger, its);
  if (problem !== undefined)
    return failed(`${name}: its event source mapping is ${problem}`, `${without} ${remedy}`);
  return passed(`${name} has its consumer${atOnce === undefined ? '' : `, at most ${atOnce} at once`}`);
};

/**
 * Left for the functions that read neither queue of reconciles. Lambda itself leaves 100 to functions without reserved concurrency
 * (https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html).
 */
const headroom = 50;

/**
 * Fails where the account's quota cannot bear a full reconcile queue. "New AWS accounts have reduced concurrency", such as 10
 * (https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html), and each throttle of a message counts as a
 * receive. So messages without any fault become dead letters.
 */
export const checkConcurrency = async (client: LambdaClient, reconcileConcurrency: number) => {
  const { AccountLimit } = await client.send(new GetAccountSettingsCommand());
  const quota = AccountLimit?.ConcurrentExecutions ?? 0;
  const needed = 2 * reconcileConcurrency + headroom;
  if (quota >= needed) return passed(`account may run ${quota} functions at once`);
  return failed(
    `account may run ${quota} functions at once, where ${needed} are needed: twice reconcileConcurrency, which is ${reconcileConcurrency}, and ${headroom} for the rest`,
    `Lambda would throttle webhooks and starts, and throttled messages become dead letters. Have AWS raise the quota, per region, with the permissions to deploy: aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1000`,
  );
};

/**
 * A note, and no failure, where the machine of an emulator has more work than processors. A start is then late or interrupted, because
 * its time limits are as long as Lambda's. `load` is the mean number of processes that ran or waited in the last minute.
 */
export const checkEmulatorLoad = (load: number, processors: number): Found => {
  const numbers = `${load.toFixed(1)} processes for ${processors} processors in the last minute`;
  return load <= 2 * processors
    ? passed(`emulator has time: ${numbers}`)
    : skipped(
        `emulator is overloaded: ${numbers}. Starts may be late, and end NOT_STARTED or UNCONFIRMED. Request fewer at once, or end other programs`,
      );
};
