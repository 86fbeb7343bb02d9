import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { IAMClient } from '@aws-sdk/client-iam';
import { KMSClient } from '@aws-sdk/client-kms';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { once } from '../../../lib/once.ts';
import type { Deployment } from '../aws/deployment.ts';
import { queueClient } from '../aws/queues.ts';
import { alarmNamesIn } from '../aws/read-alarms.ts';
import { openExtractionIds, readExtractions } from '../aws/read-extractions.ts';
import { readPipe } from '../aws/read-pipe.ts';
import { readReconcileSettings } from '../aws/read-reconcile-settings.ts';
import { type Rule, readRules } from '../aws/read-rules.ts';
import { readStackResources } from '../aws/stack.ts';
import { breakersOf, s3Of } from '../aws/stores.ts';
import {
  checkAlarms,
  checkBreakers,
  checkDeadLetters,
  checkFanOut,
  checkOverdue,
  checkSweep,
} from './check-alarms-and-backlog.ts';
import { checkBoundary, checkKeys } from './check-keys.ts';
import { checkProvider, checkWebhook } from './check-provider.ts';
import {
  checkBucket,
  checkConcurrency,
  checkConsumer,
  checkMachine,
  checkRules,
  checkSecret,
  checkStack,
  checkTable,
} from './check-resources.ts';
import { type Check, passed, skipped } from './finding.ts';

export type DoctorOptions = { readonly provider?: true };

type Shared = {
  readonly deployment: Deployment;
  readonly now: Date;
  readonly byType: () => ReturnType<typeof readStackResources>;
  /** Physical ids of the stack's resources of a type. */
  readonly resources: (type: string) => Promise<readonly string[]>;
  readonly rules: () => Promise<readonly Rule[]>;
};

const share = (deployment: Deployment, now: Date): Shared => {
  const { client, stackName } = deployment;
  const byType = once(() => readStackResources(new CloudFormationClient(client), stackName));
  const resources = async (type: string) => (await byType()).get(type) ?? [];
  const rules = once(async () =>
    readRules(new EventBridgeClient(client), await resources('AWS::Events::Rule')),
  );
  return { deployment, now, byType, resources, rules };
};

const stackChecks = ({ deployment: { client, stackName, stackStatus } }: Shared): readonly Check[] => [
  {
    id: 'credentials',
    run: async () => {
      const { Account, Arn } = await new STSClient(client).send(new GetCallerIdentityCommand());
      return passed(`account ${Account}, as ${Arn}`);
    },
  },
  { id: 'stack', run: async () => checkStack(stackName, stackStatus) },
];

const secretChecks = ({
  deployment: { client, output, name: deployment },
  now,
}: Shared): readonly Check[] => {
  const secrets = new SecretsManagerClient(client);
  const check = (id: string, label: string, remedy: () => string): Check => ({
    id,
    run: async () => checkSecret(secrets, { name: `${deployment}/${id}`, label, remedy: remedy() }, now),
  });
  return [
    check('provider-api-key', 'provider API key', () => output('FillProviderApiKey')),
    check('webhook-signing-key', 'webhook signing key', () => output('FillWebhookSigningKey')),
    check('fingerprint-key', 'fingerprint key', () => 'The stack generates it. Deploy the stack again.'),
  ];
};

const keyChecks = ({ deployment: { client, output }, now }: Shared): readonly Check[] => {
  const settings = once(async () =>
    readReconcileSettings(new LambdaClient(client), output('ReconcileFunctionName')),
  );
  return [
    {
      id: 'keys',
      run: async () => {
        const { sealKeyArn } = await settings();
        const keys = { 'data key': output('DataKeyArn'), 'seal key': sealKeyArn };
        return checkKeys(new KMSClient(client), keys, now);
      },
    },
    {
      id: 'permissions-boundary',
      run: async () => {
        const { roleArn, sealKeyArn } = await settings();
        return checkBoundary(new IAMClient(client), roleArn, sealKeyArn);
      },
    },
  ];
};

const storageChecks = ({ deployment, now }: Shared): readonly Check[] => {
  const { client, output } = deployment;
  const dynamo = new DynamoDBClient(client);
  return [
    ...['Extractions', 'Tasks', 'Requests', 'Refusals'].map(
      (label): Check => ({
        id: `${label.toLowerCase()}-table`,
        run: async () =>
          checkTable(dynamo, {
            name: output(`${label}TableName`),
            label,
            isPublic: label === 'Extractions',
          }),
      }),
    ),
    { id: 'breakers', run: async () => checkBreakers(breakersOf(deployment), now) },
    {
      id: 'results-bucket',
      run: async () => checkBucket(s3Of(deployment), output('ResultsBucketName')),
    },
  ];
};

const sweepChecks = ({ deployment, now, rules }: Shared): readonly Check[] => {
  const { client, output, stage, isEmulated } = deployment;
  return [
    { id: 'rules', run: async () => checkRules(await rules()) },
    {
      id: 'sweep',
      run: async () =>
        isEmulated
          ? skipped('last sweep: skipped, as the emulator makes no metrics of logs')
          : checkSweep(new CloudWatchClient(client), stage, deployment.sweepEveryMinutes(), now),
    },
    {
      id: 'overdue',
      run: async () => {
        const dynamo = new DynamoDBClient(client);
        const table = output('ExtractionsTableName');
        const ids = await openExtractionIds(dynamo, table, now.toISOString());
        return checkOverdue(await readExtractions(dynamo, table, ids), deployment.sweepEveryMinutes(), now);
      },
    },
  ];
};

const queueChecks = ({ deployment, resources }: Shared): readonly Check[] => {
  const { client, output } = deployment;
  const queues = queueClient(deployment);
  const consumer = (id: string, queue: 'reconcile queue' | 'slow queue', url: string): Check => ({
    id,
    run: async () =>
      checkConsumer(new LambdaClient(client), {
        functionName: output('ReconcileFunctionName'),
        queue,
        queueUrl: output(url),
        concurrency: output('ReconcileConcurrency'),
      }),
  });
  return [
    consumer('reconcile-queue', 'reconcile queue', 'ReconcileQueueUrl'),
    consumer('slow-queue', 'slow queue', 'SlowQueueUrl'),
    {
      id: 'concurrency',
      run: async () => checkConcurrency(new LambdaClient(client), Number(output('ReconcileConcurrency'))),
    },
    { id: 'dead-letters', run: async () => checkDeadLetters(queues, output('DeadLetterQueueUrl')) },
    {
      id: 'event-bus',
      run: async () => {
        const name = deployment.findOutput('PipeName');
        const pipe = name === undefined ? undefined : await readPipe(client, name);
        return checkFanOut(queues, pipe, await resources('AWS::SQS::Queue'));
      },
    },
  ];
};

const providerCheck = ({ client, output, name }: Deployment, { provider }: DoctorOptions): Check => ({
  id: 'provider',
  run: async () => {
    if (provider !== true) return skipped('provider: skipped; --provider logs in once with the API key');
    const settings = await readReconcileSettings(new LambdaClient(client), output('ReconcileFunctionName'));
    return checkProvider(new SecretsManagerClient(client), `${name}/provider-api-key`, settings);
  },
});

/** Every check of a deployment, in the order in which `doctor` prints them. docs/cli.md lists their ids. */
export const checksOf = (deployment: Deployment, options: DoctorOptions, now: Date): readonly Check[] => {
  const shared = share(deployment, now);
  const { client, output, api } = deployment;
  return [
    ...stackChecks(shared),
    ...secretChecks(shared),
    { id: 'webhook', run: async () => checkWebhook(fetch, api.webhookUrl) },
    {
      id: 'state-machine',
      run: async () => checkMachine(new SFNClient(client), output('StateMachineArn'), now),
    },
    ...keyChecks(shared),
    ...storageChecks(shared),
    ...sweepChecks(shared),
    ...queueChecks(shared),
    {
      id: 'alarms',
      run: async () => checkAlarms(new CloudWatchClient(client), alarmNamesIn(await shared.byType())),
    },
    providerCheck(deployment, options),
  ];
};
