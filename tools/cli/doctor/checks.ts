import { availableParallelism, loadavg } from 'node:os';
import { ApiGatewayV2Client } from '@aws-sdk/client-apigatewayv2';
import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { IAMClient } from '@aws-sdk/client-iam';
import { KMSClient } from '@aws-sdk/client-kms';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { isMapping, isRule, parseTriggers } from '../../../lib/aws/trigger.ts';
import { memoize } from '../../../lib/memoize.ts';
import type { Deployment } from '../aws/deployment.ts';
import { queueClient } from '../aws/queues.ts';
import { alarmNamesOf } from '../aws/read-alarms.ts';
import { readDeliveries } from '../aws/read-deliveries.ts';
import { openExtractionIds, readExtractions } from '../aws/read-extractions.ts';
import { ownMetric, sumMetric } from '../aws/read-metric.ts';
import { readStartRate } from '../aws/read-rate.ts';
import { readReconcileSettings } from '../aws/read-reconcile-settings.ts';
import { breakersOf, s3Of } from '../aws/stores.ts';
import { describeRate } from '../terminal/describe-rate.ts';
import {
  checkAlarms,
  checkBreakers,
  checkDeadLetters,
  checkEventBus,
  checkOverdue,
  checkSessions,
  checkSweep,
} from './check-alarms-and-backlog.ts';
import { checkDeliveries } from './check-deliveries.ts';
import { checkBoundary, checkKeys } from './check-keys.ts';
import { checkProvider, checkWebhook } from './check-provider.ts';
import {
  checkBucket,
  checkConcurrency,
  checkEmulatorLoad,
  checkMachine,
  checkMapping,
  checkRules,
  checkStack,
  checkTable,
  type Table,
} from './check-resources.ts';
import { checkRoutes } from './check-routes.ts';
import { checkSecret, type Secret } from './check-secrets.ts';
import { type Check, type Found, passed, skipped } from './finding.ts';

export type DoctorOptions = { readonly provider?: true };

const hoursBefore = (now: Date, hours: number): Date => new Date(now.getTime() - hours * 3_600_000);

type Runs = Readonly<Record<string, Check['run']>>;

const secretChecks = (deployment: Deployment, now: Date): Runs => {
  const { client, output, name } = deployment;
  const secrets = new SecretsManagerClient(client);
  const check = (
    id: string,
    secret: Pick<Secret, 'label' | 'kind' | 'deliveries'>,
    remedy: () => string,
  ): Runs => ({
    [id]: () => checkSecret(secrets, { name: `${name}/${id}`, ...secret, remedy: remedy() }, now),
  });
  const apiKey = { label: 'provider API key', kind: 'API key' } as const;
  const signingKey = {
    label: 'webhook signing key',
    kind: 'signing key',
    deliveries: async () => (await readDeliveries(deployment, hoursBefore(now, 24))).items,
  } as const;
  const fingerprintKey = { label: 'fingerprint key', kind: 'generated' } as const;
  return {
    ...check('provider-api-key', apiKey, () => output('FillProviderApiKey')),
    ...check('webhook-signing-key', signingKey, () => output('FillWebhookSigningKey')),
    ...check('fingerprint-key', fingerprintKey, () => 'The stack generates it. Deploy the stack again.'),
  };
};

const keyChecks = (deployment: Deployment, now: Date): Runs => {
  const { client, output } = deployment;
  const settings = memoize(() => readReconcileSettings(deployment));
  return {
    keys: async () => {
      const keys = { 'data key': output('DataKeyArn'), 'seal key': (await settings()).sealKeyArn };
      return checkKeys(new KMSClient(client), keys, now);
    },
    'permissions-boundary': async () => {
      const { roleArn, sealKeyArn } = await settings();
      return checkBoundary(new IAMClient(client), roleArn, sealKeyArn);
    },
    consents: async () =>
      (await settings()).consentsAreSetUp
        ? passed('consents are set up')
        : skipped(
            'consents: skipped, as the setting providerClientId is not set. Until it is, they are answered 501',
          ),
  };
};

const storageChecks = (deployment: Deployment, now: Date): Runs => {
  const { client, output, isMiniStack } = deployment;
  const dynamo = new DynamoDBClient(client);
  const table = (id: string, label: string, more: Partial<Table> = {}): Runs => ({
    [id]: () => checkTable(dynamo, { name: output(`${label}TableName`), label, isMiniStack, ...more }),
  });
  return {
    ...table('extractions-table', 'Extractions', { isPublic: true, indexes: ['due', 'reference', 'batch'] }),
    ...table('tasks-table', 'Tasks'),
    ...table('requests-table', 'Requests'),
    ...table('refusals-table', 'Refusals'),
    ...table('start-line-table', 'StartLine', { indexes: ['line'] }),
    breakers: () => checkBreakers(breakersOf(deployment), now),
    'start-rate': async () => passed(describeRate(await readStartRate(deployment, now), now).join('; ')),
    'results-bucket': () => checkBucket(s3Of(deployment), output('ResultsBucketName')),
  };
};

/** One check of all rules, and one of each event source mapping, such as `slow-queue`. */
const triggerChecks = ({ client, output, findOutput }: Deployment): Runs => {
  const lambda = new LambdaClient(client);
  const mappings = parseTriggers(findOutput('Triggers') ?? '[]').filter(isMapping);
  return {
    rules: () => checkRules(new EventBridgeClient(client), parseTriggers(output('Triggers')).filter(isRule)),
    ...Object.fromEntries(
      mappings.map((trigger) => [trigger.name.replaceAll(' ', '-'), () => checkMapping(lambda, trigger)]),
    ),
  };
};

const sweepChecks = (deployment: Deployment, now: Date): Runs => {
  const { client, output, stage, isMiniStack, sweepEveryMinutes } = deployment;
  const ofMetrics = (label: string, check: (metrics: CloudWatchClient) => Promise<Found>) => () =>
    isMiniStack
      ? skipped(`${label}: skipped, as the emulator makes no metrics of logs`)
      : check(new CloudWatchClient(client));
  return {
    sweep: ofMetrics('last sweep', (metrics) => checkSweep(metrics, stage, sweepEveryMinutes(), now)),
    sessions: ofMetrics('sessions', (metrics) => checkSessions(metrics, stage, now)),
    overdue: async () => {
      const dynamo = new DynamoDBClient(client);
      const table = output('ExtractionsTableName');
      const ids = await openExtractionIds(dynamo, table, now.toISOString());
      return checkOverdue(await readExtractions(dynamo, table, ids), sweepEveryMinutes(), now);
    },
  };
};

const queueChecks = (deployment: Deployment): Runs => {
  const { client, output, findOutput } = deployment;
  const queues = queueClient(deployment);
  const lambda = new LambdaClient(client);
  return {
    concurrency: () => checkConcurrency(lambda, Number(output('ReconcileConcurrency'))),
    'dead-letters': () => checkDeadLetters(queues, output('DeadLetterQueueUrl')),
    'event-bus': () => checkEventBus(queues, findOutput('EventDeadLetterQueueUrl')),
  };
};

/** Every check of a deployment, in the order in which `doctor` prints them. */
export const checksOf = (deployment: Deployment, { provider }: DoctorOptions, now: Date) => {
  const { client, output, findOutput, name, api, stage, stackName, stackStatus, isMiniStack } = deployment;
  const runs: Runs = {
    credentials: async () => {
      const { Account, Arn } = await new STSClient(client).send(new GetCallerIdentityCommand());
      return passed(`account ${Account}, as ${Arn}`);
    },
    stack: () => checkStack(stackName, stackStatus),
    ...(isMiniStack
      ? { 'emulator-load': () => checkEmulatorLoad(loadavg()[0] ?? 0, availableParallelism()) }
      : {}),
    ...secretChecks(deployment, now),
    webhook: () => checkWebhook(fetch, api.webhookUrl),
    deliveries: async () => {
      const since = hoursBefore(now, 1);
      const [deliveries, missed] = await Promise.all([
        readDeliveries(deployment, since),
        isMiniStack
          ? undefined
          : sumMetric(new CloudWatchClient(client), ownMetric(stage, 'WebhookMissed'), since, now),
      ]);
      return checkDeliveries({ deliveries, missed }, now);
    },
    routes: () =>
      checkRoutes(new ApiGatewayV2Client(client), {
        apiId: output('ApiId'),
        functionOfRoute: JSON.parse(output('Routes')) as Readonly<Record<string, string>>,
        customDomain: findOutput('CustomDomainTarget') && new URL(output('ApiUrl')).host,
      }),
    'state-machine': () => checkMachine(new SFNClient(client), output('StateMachineArn'), now),
    ...keyChecks(deployment, now),
    ...storageChecks(deployment, now),
    ...triggerChecks(deployment),
    ...sweepChecks(deployment, now),
    ...queueChecks(deployment),
    alarms: async () => checkAlarms(new CloudWatchClient(client), await alarmNamesOf(deployment)),
    provider: async () => {
      if (provider !== true) return skipped('provider: skipped; --provider logs in once with the API key');
      const settings = await readReconcileSettings(deployment);
      const { entities = [] } = deployment.acceptedRequests();
      return checkProvider(new SecretsManagerClient(client), `${name}/provider-api-key`, settings, entities);
    },
  };
  return Object.entries(runs).map(([id, run]) => ({ id, run }));
};
