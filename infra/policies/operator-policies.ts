import { ArnFormat, Aws, Stack, Validations } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import type { IRule } from 'aws-cdk-lib/aws-events';
import { ManagedPolicy, type PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { CfnBucket } from 'aws-cdk-lib/aws-s3';
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { stackNameOf } from '../../lib/aws/stage.ts';
import { allow } from '../constructs/allow.ts';
import { secretArn } from '../constructs/secrets.ts';
import type { CosechaFunctions } from '../lambda/create-functions.ts';
import { prefixOf } from '../prefix-of.ts';
import type { Resources } from '../resources.ts';

type OperatorPoliciesProps = {
  readonly resources: Resources;
  readonly functions: CosechaFunctions;
  readonly api: HttpApi;
  readonly machine: IStateMachine;
  readonly rules: readonly IRule[];
  /** The logs that AWS services write, beside the logs of the functions. */
  readonly serviceLogs: readonly ILogGroup[];
  readonly streamArn: string;
};

/**
 * What people need for the commands of docs/cli.md, and for the commands of the AWS CLI in docs/operations.md, as three managed policies.
 * Each has only what the one before lacks, as a policy holds 6,144 characters and an ARN takes a hundred:
 *
 * - viewer: read records, logs, metrics and the stream. No results, which are bank data.
 * - operator: also request, reconcile, redrive and pause, read results, and start what somebody stopped, a key included.
 * - admin: also read and fill the signing key and the API key, erase, forget refusals, and restore. With the signing key anybody can settle an
 *   extraction.
 */
export class OperatorPolicies extends Construct {
  readonly viewer: ManagedPolicy;
  readonly operator: ManagedPolicy;
  readonly admin: ManagedPolicy;

  constructor(scope: Construct, id: string, props: OperatorPoliciesProps) {
    super(scope, id);
    const { resources } = props;
    const arns = arnsOf(this, props);
    this.viewer = this.policy('viewer', resources, viewing(arns, props));
    this.operator = this.policy('operator', resources, operating(arns, props));
    this.admin = this.policy('admin', resources, administering(arns, props));
    acknowledgeWildcards(this, props);
  }

  /** IAM has no regions, so the name has the region, which a stage may repeat. */
  private policy(
    level: 'viewer' | 'operator' | 'admin',
    { config: { stage } }: Resources,
    statements: readonly PolicyStatement[],
  ): ManagedPolicy {
    const id = `${level.charAt(0).toUpperCase()}${level.slice(1)}`;
    return new ManagedPolicy(this, id, {
      managedPolicyName: `${stackNameOf(stage)}-${Aws.REGION}-${level}`,
      // A new description would replace the policy, which its fixed name does not allow.
      description: `Cosecha: commands of a ${level} (docs/cli.md)`,
      statements: [...statements],
    });
  }
}

/** Names that CloudFormation makes: of the stack, of the logical id, and random. */
const functionLogs = (stackName: string, prefix: string, functions: CosechaFunctions): readonly string[] => [
  ...new Set(Object.values(functions).map(({ node }) => `${stackName}-${prefix}${node.id.charAt(0)}*`)),
];

/** The name of a stage has no `_`, so these are no tables of another stage, such as `eu-restored`. */
const restoredTables = (name: string): string => `${name}_restored*`;

type Arns = ReturnType<typeof arnsOf>;

/**
 * Of this deployment alone. A pattern such as `Cosecha-eu-*` would also fit the names of the stage `eu-prod`. A stage has no capitals, so
 * a capital ends the name of the stack: the first one of the logical id, with which CloudFormation goes on. The ARN of each log would make
 * the policy too long.
 */
const arnsOf = (scope: Construct, props: OperatorPoliciesProps) => {
  const { resources, functions, api, rules, serviceLogs } = props;
  const prefix = prefixOf(scope.node.scope ?? scope);
  const stack = Stack.of(scope);
  const { storage, config } = resources;
  const name = stackNameOf(config.stage);
  const colon = { arnFormat: ArnFormat.COLON_RESOURCE_NAME };
  const arn = (service: string, resource: string, resourceName: string, options = {}): string =>
    stack.formatArn({ service, resource, resourceName, ...options });
  return {
    stack: arn('cloudformation', 'stack', `${stack.stackName}/*`),
    rules: rules.map(({ ruleArn }) => ruleArn),
    api: [
      ...['routes', 'integrations'].map((part) => `/apis/${api.apiId}/${part}`),
      ...(config.domainName === undefined ? [] : [`/domainnames/${config.domainName}/apimappings`]),
    ].map((resource) => `arn:${stack.partition}:apigateway:${stack.region}::${resource}`),
    mappings: arn('lambda', 'event-source-mapping', '*', colon),
    logs: [
      ...functionLogs(stack.stackName, prefix, functions).map((names) =>
        arn('logs', 'log-group', names, colon),
      ),
      ...serviceLogs.map(({ logGroupArn }) => logGroupArn),
    ],
    executions: arn('states', 'execution', `${name}-extractions:*`, colon),
    secrets: arn('secretsmanager', 'secret', `${name}/*`, colon),
    restored: arn('dynamodb', 'table', restoredTables(name)),
    requesting: ['POST/extractions', 'GET/extractions/summary'].map((route) =>
      arn('execute-api', api.apiId, `$default/${route}`),
    ),
    extractions: storage.extractions.tableArn,
    tasks: storage.tasks.tableArn,
    requests: storage.requests.tableArn,
    refusals: storage.refusals.tableArn,
    breakers: storage.breakers.tableArn,
    erasures: storage.erasures.tableArn,
    // Fewer and shorter than the ARNs, as the policy is nearly full: Extractions, with its indexes, and Erasures.
    readable: arn('dynamodb', 'table', `${stack.stackName}-${prefix}StorageE*`),
    // Requests and Refusals, and StartLine.
    audited: ['Re', 'S'].map((name) =>
      arn('dynamodb', 'table', `${stack.stackName}-${prefix}Storage${name}*`),
    ),
    lineIndex: `${storage.startLine.tableArn}/index/line`,
    results: storage.results.bucketArn,
    everyResult: storage.results.arnForObjects('*'),
  };
};

/** The table itself, its backups and its TTL. One action, as the policy of viewers is nearly full. */
const describing = 'dynamodb:Describe*';

/** Of `Requests`, `Refusals` and `StartLine`. The keys have to be named, and that of `Refusals` is a MAC. */
const auditedAttributes = [
  ...['requestId', 'extractionId', 'expiresAt'],
  ...['credentialsMac', 'extractionIds', 'isRefused', 'line', 'slot', 'waitedMs', 'waitingSince'],
];

/** `explain`, `get`, `watch`, `listen`, `list`, `doctor`, `health`, `rate`, `audit`, and the console without `--actions`. */
const viewing = (arns: Arns, props: OperatorPoliciesProps) => {
  const { functions, machine, streamArn } = props;
  const { dataKey, sealKey, queue, outcomeBus } = props.resources;
  const queues = [
    queue.queue,
    queue.slow,
    queue.deadLetters,
    ...(outcomeBus === undefined ? [] : [outcomeBus.deadLetters]),
  ];
  return [
    allow(['apigateway:GET'], arns.api),
    allow(['cloudformation:DescribeStacks', 'cloudformation:ListStackResources'], [arns.stack]),
    allow(
      [describing, 'dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:Scan'],
      [arns.readable, arns.tasks, arns.breakers, arns.lineIndex],
    ),
    allow([describing], arns.audited),
    allow(['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'], [streamArn]),
    // For `audit` and `explain`, and never what is sealed, nor a callback token
    // (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_examples_dynamodb_columns.html).
    allow(['dynamodb:GetItem', 'dynamodb:Scan'], arns.audited, {
      'ForAllValues:StringEquals': { 'dynamodb:Attributes': auditedAttributes },
      StringEqualsIfExists: { 'dynamodb:Select': 'SPECIFIC_ATTRIBUTES' },
    }),
    dataKey.readingTables(),
    allow(['kms:DescribeKey'], [dataKey.key.keyArn, sealKey.key.keyArn]),
    allow(['events:DescribeRule'], arns.rules),
    // One statement, as the policy is nearly full. Each action knows only its own kind of resource.
    allow(
      ['iam:SimulatePrincipalPolicy', 'lambda:GetFunctionConcurrency', 'lambda:GetFunctionConfiguration'],
      [
        functions.reconcileExtraction.role.roleArn,
        functions.reconcileExtraction.function.functionArn,
        functions.receiveWebhook.function.functionArn,
      ],
    ),
    allow(['logs:FilterLogEvents', 'logs:StartQuery'], arns.logs),
    allow(['s3:ListBucket', 's3:ListBucketVersions'], [arns.results]),
    allow(['secretsmanager:DescribeSecret', 'secretsmanager:ListSecretVersionIds'], [arns.secrets]),
    allow(
      ['sqs:GetQueueAttributes'],
      queues.map(({ queueArn }) => queueArn),
    ),
    allow(
      ['states:DescribeStateMachine', 'states:GetExecutionHistory', 'states:ListExecutions'],
      [machine.stateMachineArn, arns.executions],
    ),
    // None of them knows resources.
    allow(
      [
        'cloudwatch:DescribeAlarms',
        // The dashboard, to which alarms refer.
        'cloudwatch:GetDashboard',
        'cloudwatch:GetMetricData',
        'cloudwatch:GetMetricStatistics',
        'cloudwatch:ListDashboards',
        'lambda:GetAccountSettings',
        'lambda:ListEventSourceMappings',
        'logs:GetQueryResults',
      ],
      ['*'],
    ),
  ];
};

/** `start`, `start-again`, `cancel`, `get --results`, `audit --results`, `reconcile`, `redrive`, `pause`, `resume`, `rate --reason`, `rate --clear`, and `console --actions`. The fixes of the runbook. */
const operating = (arns: Arns, { resources, functions }: OperatorPoliciesProps) => {
  const { dataKey, sealKey, queue, storage, outcomeBus } = resources;
  const consumers = [
    functions.reconcileExtraction,
    functions.eraseExtractions,
    ...(functions.publishEvents ? [functions.publishEvents] : []),
  ];
  return [
    allow(['execute-api:Invoke'], arns.requesting),
    storage.onResults('GetObject'),
    dataKey.readingObjects(),
    allow(
      ['lambda:InvokeFunction'],
      [functions.reconcileExtraction.function.functionArn, functions.sweepExtractions.function.functionArn],
    ),
    allow(
      ['sqs:ChangeMessageVisibility', 'sqs:DeleteMessage', 'sqs:ReceiveMessage'],
      [queue.deadLetters.queueArn],
    ),
    storage.onBreakers('GetItem', 'PutItem'),
    dataKey.writingTables(),
    allow(['events:EnableRule'], arns.rules),
    // What `doctor` prints for a consumer or a key that somebody switched off.
    allow(['lambda:UpdateEventSourceMapping'], [arns.mappings], {
      ArnEquals: { 'lambda:FunctionArn': consumers.map(({ function: { functionArn } }) => functionArn) },
    }),
    allow(['kms:CancelKeyDeletion', 'kms:EnableKey'], [dataKey.key.keyArn, sealKey.key.keyArn]),
    allow(['states:RedriveExecution'], [arns.executions]),
    ...(outcomeBus === undefined ? [] : [allow(['sqs:PurgeQueue'], [outcomeBus.deadLetters.queueArn])]),
  ];
};

/** `deliver`, `erase`, `fill`, `forget-refusals`, `restore`, and `doctor --provider`. The rotations and the restore of the runbook. */
const administering = (arns: Arns, { resources, api }: OperatorPoliciesProps) => {
  const { secrets, dataKey, eraseQueue } = resources;
  const stack = Stack.of(api);
  return [
    // The two that people fill. The third is generated, and must never be replaced.
    allow(
      ['GetSecretValue', 'PutSecretValue', 'UpdateSecretVersionStage'].map(
        (action) => `secretsmanager:${action}`,
      ),
      [secrets.webhookSigningKey, secrets.providerApiKey].map((name) => secretArn(stack, name)),
    ),
    dataKey.fillingSecrets(),
    // A restore removes the item of a start that it closes. Nobody erases but erase-extractions, which is asked to by a message.
    allow(['dynamodb:DeleteItem'], [arns.requests]),
    allow(
      ['GetItem', 'PutItem', 'Query', 'Scan'].map((action) => `dynamodb:${action}`),
      [arns.erasures],
    ),
    allow(['sqs:SendMessage'], [eraseQueue.queue.queueArn]),
    // https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-configure-dead-letter-queue-redrive.html
    allow(
      ['DeleteMessage', 'GetQueueAttributes', 'ReceiveMessage', 'StartMessageMoveTask'].map(
        (action) => `sqs:${action}`,
      ),
      [eraseQueue.deadLetters.queueArn],
    ),
    // MACs, which say nothing without the fingerprint key.
    allow(['dynamodb:GetItem', 'dynamodb:Scan', 'dynamodb:UpdateItem'], [arns.refusals]),
    // An insert overwrites no record (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-iam.html).
    allow(['dynamodb:PartiQLInsert', 'dynamodb:RestoreTableToPointInTime'], [arns.extractions]),
    // A restore reads and writes the new table with the caller's permissions
    // (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/backuprestore_IAM.html).
    allow(
      [
        'BatchWriteItem',
        'DeleteItem',
        'GetItem',
        'PutItem',
        'Query',
        'Scan',
        'UpdateItem',
        'DeleteTable',
        'DescribeTable',
        'RestoreTableToPointInTime',
      ].map((action) => `dynamodb:${action}`),
      [arns.restored],
    ),
    dataKey.writingTables(),
    dataKey.creatingTables(),
  ];
};

/** Gives the rules of AWS Solutions the reason of each wildcard. */
const acknowledgeWildcards = (
  policies: OperatorPolicies,
  { resources: { storage, config }, functions }: OperatorPoliciesProps,
): void => {
  const stack = Stack.of(policies);
  const name = stackNameOf(config.stage);
  const arn = (service: string, resource: string): string =>
    `arn:<AWS::Partition>:${service}:<AWS::Region>:<AWS::AccountId>:${resource}`;
  const bucket = stack.getLogicalId(storage.results.node.defaultChild as CfnBucket);
  const every = 'They are named by extraction, so this is the narrowest possible resource.';
  const acknowledge = (policy: ManagedPolicy, resource: string, reason: string): void =>
    Validations.of(policy).acknowledge({ id: `AwsSolutions-IAM5[Resource::${resource}]`, reason });
  for (const names of functionLogs(stack.stackName, prefixOf(policies.node.scope ?? policies), functions)) {
    acknowledge(policies.viewer, arn('logs', `log-group:${names}`), 'The logs of the functions.');
  }
  acknowledge(policies.viewer, arn('cloudformation', `stack/${stack.stackName}/*`), 'The id of the stack.');
  for (const policy of [policies.viewer, policies.operator]) {
    acknowledge(policy, arn('states', `execution:${name}-extractions:*`), every);
  }
  acknowledge(policies.viewer, arn('secretsmanager', `secret:${name}/*`), 'The three secrets of the stage.');
  acknowledge(policies.operator, arn('lambda', 'event-source-mapping:*'), 'A condition names the function.');
  const ownPrefix = prefixOf(policies.node.scope ?? policies);
  for (const names of ['E', 'Re', 'S']) {
    const tables = arn('dynamodb', `table/${stack.stackName}-${ownPrefix}Storage${names}*`);
    acknowledge(policies.viewer, tables, 'Tables whose names begin so, and their indexes.');
  }
  acknowledge(policies.viewer, '*', 'These actions know no resources.');
  Validations.of(policies.viewer).acknowledge({
    id: 'AwsSolutions-IAM5[Action::dynamodb:Describe*]',
    reason: 'They read no item.',
  });
  acknowledge(policies.operator, `<${bucket}.Arn>/*`, every);
  acknowledge(
    policies.admin,
    arn('dynamodb', `table/${restoredTables(name)}`),
    'The operator names the table that a backup is restored to.',
  );
};
