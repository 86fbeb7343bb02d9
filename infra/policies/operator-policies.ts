import { ArnFormat, Aws, Stack, Validations } from 'aws-cdk-lib';
import type { IRule } from 'aws-cdk-lib/aws-events';
import { ManagedPolicy, type PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { stackNameOf } from '../../lib/aws/stage.ts';
import { acknowledgeWildcard, allow, viaService } from '../constructs/allow.ts';
import type { ExtractionApi } from '../constructs/extraction-api.ts';
import type { ExtractionMachine } from '../constructs/extraction-machine.ts';
import { secretArn } from '../constructs/secrets.ts';
import type { CosechaFunctions } from '../lambda/create-functions.ts';
import { prefixOf } from '../prefix-of.ts';
import type { Resources } from '../resources.ts';

type OperatorPoliciesProps = {
  readonly resources: Resources;
  readonly functions: CosechaFunctions;
  readonly api: ExtractionApi;
  readonly machine: ExtractionMachine;
  readonly rules: readonly IRule[];
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
    acknowledgeWildcards(this, arns);
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

type Arns = ReturnType<typeof arnsOf>;

/**
 * Of this deployment alone. A pattern such as `Cosecha-eu-*` would also fit the names of the stage `eu-prod`. A stage has no capitals, so
 * a capital ends the name of the stack: the first one of the logical id, with which CloudFormation goes on. The ARN of each log would make
 * the policy too long.
 */
const arnsOf = (scope: Construct, props: OperatorPoliciesProps) => {
  const { resources, functions, machine, rules } = props;
  const { api, accessLog } = props.api;
  const prefix = prefixOf(scope.node.scope ?? scope);
  const stack = Stack.of(scope);
  const { storage, config } = resources;
  const name = stackNameOf(config.stage);
  // CloudFormation makes names of the stack, of the logical id, and of random letters.
  const madeNames = `${stack.stackName}-${prefix}`;
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
    functionLogs: [...new Set(Object.values(functions).map(({ node }) => node.id.charAt(0)))].map((letter) =>
      arn('logs', 'log-group', `${madeNames}${letter}*`, colon),
    ),
    // The logs that AWS services write.
    serviceLogs: [machine.logGroup, accessLog].map(({ logGroupArn }) => logGroupArn),
    executions: arn('states', 'execution', `${name}-extractions:*`, colon),
    secrets: arn('secretsmanager', 'secret', `${name}/*`, colon),
    // The name of a stage has no `_`, so these are no tables of another stage, such as `eu-restored`.
    restored: arn('dynamodb', 'table', `${name}_restored*`),
    requesting: ['POST/extractions', 'GET/extractions/summary'].map((route) =>
      arn('execute-api', api.apiId, `$default/${route}`),
    ),
    // Fewer and shorter than the ARNs, as the policy is nearly full: Extractions, with its indexes, and Erasures.
    readable: arn('dynamodb', 'table', `${madeNames}StorageE*`),
    // Requests and Refusals, and StartLine.
    audited: ['Re', 'S'].map((letters) => arn('dynamodb', 'table', `${madeNames}Storage${letters}*`)),
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
  const { functions, machine } = props;
  const { dataKey, sealKey, queue, outcomeBus, storage } = props.resources;
  const events = outcomeBus ? [outcomeBus.deadLetters] : [];
  const queues = [queue.queue, queue.slow, queue.deadLetters, ...events];
  return [
    allow(['apigateway:GET'], arns.api),
    allow(['cloudformation:DescribeStacks', 'cloudformation:ListStackResources'], [arns.stack]),
    allow(
      [describing, 'dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:Scan'],
      [
        arns.readable,
        storage.tasks.tableArn,
        storage.breakers.tableArn,
        `${storage.startLine.tableArn}/index/line`,
      ],
    ),
    allow([describing], arns.audited),
    allow(
      ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'],
      [storage.streamArn],
    ),
    // For `audit` and `explain`, and never what is sealed, nor a callback token
    // (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_examples_dynamodb_columns.html).
    allow(['dynamodb:GetItem', 'dynamodb:Scan'], arns.audited, {
      'ForAllValues:StringEquals': { 'dynamodb:Attributes': auditedAttributes },
      StringEqualsIfExists: { 'dynamodb:Select': 'SPECIFIC_ATTRIBUTES' },
    }),
    dataKey.allow('readTables'),
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
    allow(['logs:FilterLogEvents', 'logs:StartQuery'], [...arns.functionLogs, ...arns.serviceLogs]),
    allow(['s3:ListBucket', 's3:ListBucketVersions'], [storage.results.bucketArn]),
    allow(['secretsmanager:DescribeSecret', 'secretsmanager:ListSecretVersionIds'], [arns.secrets]),
    allow(
      ['sqs:GetQueueAttributes'],
      queues.map(({ queueArn }) => queueArn),
    ),
    allow(
      ['states:DescribeStateMachine', 'states:GetExecutionHistory', 'states:ListExecutions'],
      [machine.machine.stateMachineArn, arns.executions],
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
  const { dataKey, sealKey, queue, outcomeBus, storage } = resources;
  const consumers = [
    functions.reconcileExtraction,
    functions.eraseExtractions,
    ...(functions.publishEvents ? [functions.publishEvents] : []),
  ];
  return [
    allow(['execute-api:Invoke'], arns.requesting),
    allow(['s3:GetObject'], [arns.everyResult]),
    dataKey.allow('readObjects'),
    allow(
      ['lambda:InvokeFunction'],
      [functions.reconcileExtraction.function.functionArn, functions.sweepExtractions.function.functionArn],
    ),
    allow(
      ['sqs:ChangeMessageVisibility', 'sqs:DeleteMessage', 'sqs:ReceiveMessage'],
      [queue.deadLetters.queueArn],
    ),
    allow(['dynamodb:GetItem', 'dynamodb:PutItem'], [storage.breakers.tableArn]),
    dataKey.allow('writeTables'),
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
const administering = (arns: Arns, { resources }: OperatorPoliciesProps) => {
  const { secrets, dataKey, eraseQueue, storage } = resources;
  const stack = Stack.of(secrets);
  return [
    // The two that people fill. The third is generated, and must never be replaced.
    allow(
      ['GetSecretValue', 'PutSecretValue', 'UpdateSecretVersionStage'].map(
        (action) => `secretsmanager:${action}`,
      ),
      [secrets.webhookSigningKey, secrets.providerApiKey].map((name) => secretArn(stack, name)),
    ),
    dataKey.allow('fillSecrets'),
    // A restore removes the item of a start that it closes. Nobody erases but erase-extractions, which is asked to by a message.
    allow(['dynamodb:DeleteItem'], [storage.requests.tableArn]),
    allow(
      ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query', 'dynamodb:Scan'],
      [storage.erasures.tableArn],
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
    allow(['dynamodb:GetItem', 'dynamodb:Scan', 'dynamodb:UpdateItem'], [storage.refusals.tableArn]),
    // An insert overwrites no record (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-iam.html).
    allow(['dynamodb:PartiQLInsert', 'dynamodb:RestoreTableToPointInTime'], [storage.extractions.tableArn]),
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
    dataKey.allow('writeTables'),
    // To make a table under the key, for which DynamoDB keeps a grant
    // (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html).
    allow(['kms:CreateGrant'], [dataKey.key.keyArn], {
      ...viaService('dynamodb'),
      Bool: { 'kms:GrantIsForAWSResource': true },
    }),
  ];
};

const acknowledgeWildcards = ({ viewer, operator, admin }: OperatorPolicies, arns: Arns): void => {
  const every = 'They are named by extraction, so this is the narrowest possible resource.';
  const reasons: readonly (readonly [holder: ManagedPolicy, resources: readonly string[], reason: string])[] =
    [
      [viewer, arns.functionLogs, 'The logs of the functions.'],
      [viewer, [arns.stack], 'The id of the stack.'],
      [viewer, [arns.executions], every],
      [viewer, [arns.secrets], 'The three secrets of the stage.'],
      [viewer, [arns.readable, ...arns.audited], 'Tables whose names begin so, and their indexes.'],
      [viewer, ['*'], 'These actions know no resources.'],
      [operator, [arns.executions, arns.everyResult], every],
      [operator, [arns.mappings], 'A condition names the function.'],
      [admin, [arns.restored], 'The operator names the table that a backup is restored to.'],
    ];
  for (const [holder, resources, reason] of reasons) {
    for (const resource of resources) acknowledgeWildcard(holder, resource, reason);
  }
  Validations.of(viewer).acknowledge({
    id: 'AwsSolutions-IAM5[Action::dynamodb:Describe*]',
    reason: 'They read no item.',
  });
};
