import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import type { Construct } from 'constructs';
import { stackNameOf } from '../lib/aws/stage.ts';
import { sweepConcurrency } from '../lib/extraction/sweep.ts';
import type { FunctionCode } from './bundle/bundle-functions.ts';
import type { Config } from './config.ts';
import { Alarms } from './constructs/alarms.ts';
import { allow } from './constructs/allow.ts';
import { CosechaFunction } from './constructs/cosecha-function.ts';
import { CosechaDashboard } from './constructs/dashboard.ts';
import { DataKey } from './constructs/data-key.ts';
import { EventFanOut } from './constructs/event-fan-out.ts';
import { ExtractionApi } from './constructs/extraction-api.ts';
import {
  acknowledgeEveryExecution,
  describingExecutions,
  ExtractionMachine,
  extractionMachineArn,
} from './constructs/extraction-machine.ts';
import { metricsOf } from './constructs/metrics.ts';
import { isLocal } from './constructs/removal.ts';
import { SafetyNet } from './constructs/safety-net.ts';
import { SealKey } from './constructs/seal-key.ts';
import { Secrets } from './constructs/secrets.ts';
import { Storage } from './constructs/storage.ts';
import { streamParameters } from './constructs/stream-parameters.ts';
import { adaptToEmulator } from './local/emulator/adapt-to-emulator.ts';

const DAY = 86_400;

/** API Gateway gives up an integration after 30 s; a second less, so that the function's own answer is heard. */
const CONSENTS_TIMEOUT_SECONDS = 29;

/**
 * A call about consents is up to four to the provider: a Task Token, the call, after a 401 another token and the
 * call again. 4 × 6.5 s leave 3 s for a cold start and the two reads of the secret.
 */
const CONSENTS_PROVIDER_TIMEOUT_MS = 6_500;

/** Cosecha, whole, in one stack named `Cosecha-<stage>`. Bound to no account or region. */
export class CosechaStack extends Stack {
  constructor(scope: Construct, config: Config, code: FunctionCode) {
    super(scope, stackNameOf(config.stage), {
      description: 'Cosecha: starts extractions of financial data and never loses an outcome',
    });
    const dataKey = new DataKey(this, 'DataKey', { config });
    const sealKey = new SealKey(this, 'SealKey', { config });
    const secrets = new Secrets(this, 'Secrets', { config });
    const storage = new Storage(this, 'Storage', { config, dataKey });
    const machineArn = extractionMachineArn(this);

    const house = { config, dataKey };
    const functions = { ...house, code };
    const extractionsTable = { EXTRACTIONS_TABLE: storage.extractions.tableName };
    const bothTables = { ...extractionsTable, TASKS_TABLE: storage.tasks.tableName };
    const timings = { TIMINGS: JSON.stringify(timingsOf(config)) };
    const provider = {
      PROVIDER_BASE_URL: config.providerBaseUrl,
      PROVIDER_API_KEY_SECRET: secrets.providerApiKey,
      PROVIDER_TIMEOUTS: JSON.stringify({
        connect: config.providerConnectTimeoutMs,
        total: config.providerTimeoutMs,
      }),
      SESSION_MINUTES: String(config.sessionMinutes),
    };
    const clientId =
      config.providerClientId === undefined ? {} : { PROVIDER_CLIENT_ID: config.providerClientId };
    const taskTokens = { TASK_TOKEN_MINUTES: String(config.taskTokenMinutes), ...clientId };

    const requestExtraction = new CosechaFunction(this, 'RequestExtraction', {
      ...functions,
      name: 'request-extraction',
      timeout: Duration.seconds(15),
      memoryMB: 512,
      environment: {
        ...extractionsTable,
        ...timings,
        ...clientId,
        STATE_MACHINE_ARN: machineArn,
        SEAL_KEY_ARN: sealKey.key.keyArn,
        FINGERPRINT_KEY_SECRET: secrets.fingerprintKey,
      },
      permissions: [
        storage.onExtractions('PutItem'),
        dataKey.writingTables(),
        secrets.reading(secrets.fingerprintKey),
        allow(['states:StartExecution'], [machineArn]),
      ],
    });
    sealKey.allowSealing(requestExtraction.role);

    const getExtraction = new CosechaFunction(this, 'GetExtraction', {
      ...functions,
      name: 'get-extraction',
      timeout: Duration.seconds(10),
      memoryMB: 512,
      environment: {
        ...extractionsTable,
        RESULTS_RETENTION_DAYS: String(config.resultsRetentionDays),
        READERS: JSON.stringify(config.readers),
      },
      // GetObject and its Decrypt are for the presigned URL, which acts with this role.
      permissions: [
        storage.onExtractions('GetItem'),
        dataKey.readingTables(),
        storage.onResults('GetObject'),
        dataKey.readingObjects(),
      ],
    });

    const startTask = new CosechaFunction(this, 'StartTask', {
      ...functions,
      name: 'start-task',
      timeout: Duration.seconds(config.startTimeoutSeconds),
      // It mostly waits, and nobody waits for it: half the memory, and the processor with it, is nearly half the bill.
      memoryMB: 256,
      reservedConcurrency: config.startReservedConcurrency,
      environment: {
        ...bothTables,
        ...timings,
        ...provider,
        ...taskTokens,
        SEAL_KEY_ARN: sealKey.key.keyArn,
        ENCRYPT_RAW_CREDENTIALS: String(config.encryptRawCredentials),
      },
      permissions: [
        storage.onExtractions('GetItem', 'UpdateItem'),
        storage.onTasks('UpdateItem'),
        dataKey.writingTables(),
        secrets.reading(secrets.providerApiKey),
        allow(['states:SendTaskFailure', 'states:SendTaskSuccess'], [machineArn]),
      ],
    });
    sealKey.allowUnsealing(startTask);

    const receiveWebhook = new CosechaFunction(this, 'ReceiveWebhook', {
      ...functions,
      name: 'receive-webhook',
      // The provider hangs up after 5 s; what was begun is finished all the same, and repeats are harmless.
      timeout: Duration.seconds(10),
      memoryMB: 512,
      environment: {
        ...bothTables,
        WEBHOOK_SIGNING_KEY_SECRET: secrets.webhookSigningKey,
        SIGNING_KEY_REFRESH_SECONDS: String(config.signingKeyRefreshSeconds),
        COLLECT_IN_MACHINE_SECONDS: String(config.collectInMachineSeconds),
      },
      permissions: [
        storage.onExtractions('UpdateItem'),
        storage.onTasks('UpdateItem'),
        dataKey.writingTables(),
        secrets.reading(secrets.webhookSigningKey),
        allow(['states:SendTaskSuccess'], [machineArn]),
      ],
      reservedConcurrency: config.webhookReservedConcurrency,
    });

    const reconciling = {
      timeout: reconcileTimeout(config),
      environment: {
        ...bothTables,
        ...timings,
        ...provider,
        ...taskTokens,
        STATE_MACHINE_ARN: machineArn,
        SEAL_KEY_ARN: sealKey.key.keyArn,
        RESULTS_BUCKET: storage.results.bucketName,
        RESULTS_MAX_BYTES: String(config.resultsMaxBytes),
      },
      permissions: [
        storage.onExtractions('GetItem', 'UpdateItem'),
        storage.onTasks('GetItem', 'UpdateItem'),
        dataKey.writingTables(),
        storage.onResults('PutObject'),
        dataKey.storingObjects(),
        secrets.reading(secrets.providerApiKey),
        describingExecutions(this),
      ],
    };
    const reconcileExtraction = new CosechaFunction(this, 'ReconcileExtraction', {
      ...functions,
      ...reconciling,
      name: 'reconcile-extraction',
      memoryMB: memoryForResults(config, 1),
      reservedConcurrency: config.reconcileReservedConcurrency,
    });
    const sweepExtractions = new CosechaFunction(this, 'SweepExtractions', {
      ...functions,
      ...reconciling,
      name: 'sweep-extractions',
      memoryMB: memoryForResults(config, sweepConcurrency),
      permissions: [...reconciling.permissions, storage.findingOpen()],
    });
    const reconcilers = [reconcileExtraction.role, sweepExtractions.role];
    sealKey.allowUnsealingTargets([reconcileExtraction, sweepExtractions]);
    for (const role of reconcilers) acknowledgeEveryExecution(role);

    const manageConsents = new CosechaFunction(this, 'ManageConsents', {
      ...functions,
      name: 'manage-consents',
      timeout: Duration.seconds(CONSENTS_TIMEOUT_SECONDS),
      memoryMB: 512,
      environment: {
        ...taskTokens,
        ...(config.widgetConfigId === undefined ? {} : { WIDGET_CONFIG_ID: config.widgetConfigId }),
        PROVIDER_BASE_URL: config.providerBaseUrl,
        PROVIDER_API_KEY_SECRET: secrets.providerApiKey,
        PROVIDER_TIMEOUTS: JSON.stringify({
          connect: Math.min(config.providerConnectTimeoutMs, CONSENTS_PROVIDER_TIMEOUT_MS),
          total: Math.min(config.providerTimeoutMs, CONSENTS_PROVIDER_TIMEOUT_MS),
        }),
      },
      permissions: [secrets.reading(secrets.providerApiKey)],
    });

    for (const role of [getExtraction.role, ...reconcilers]) storage.acknowledgeEveryResult(role);

    const { machine } = new ExtractionMachine(this, 'ExtractionMachine', {
      ...house,
      startTask: startTask.function,
      reconcile: reconcileExtraction.function,
    });
    const { deadLetters } = new SafetyNet(this, 'SafetyNet', {
      config,
      reconcile: reconcileExtraction,
      sweep: sweepExtractions,
      machine,
    });
    const { api, url, webhookUrl } = new ExtractionApi(this, 'ExtractionApi', {
      ...house,
      requestExtraction: requestExtraction.function,
      getExtraction: getExtraction.function,
      receiveWebhook: receiveWebhook.function,
      manageConsents: manageConsents.function,
    });
    const streamArn = storage.extractions.tableStreamArn ?? '';
    const published = streamParameters(config.stage);
    this.publish('StreamArnParameter', published.streamArn, streamArn);
    this.publish('DataKeyArnParameter', published.dataKeyArn, dataKey.key.keyArn);
    this.publish('ResultsBucketNameParameter', published.resultsBucketName, storage.results.bucketName);
    const fanOut = config.fanOutToEventBus
      ? new EventFanOut(this, 'EventFanOut', { ...house, streamArn })
      : undefined;

    const metrics = metricsOf({
      ...{ config, api, machine, deadLetters },
      fanOutDeadLetters: fanOut?.deadLetters,
      startTask: startTask.function,
      receiveWebhook: receiveWebhook.function,
    });
    const alarms = new Alarms(this, 'Alarms', { config, metrics }).all;
    const dashboard = new CosechaDashboard(this, 'Dashboard', { config, metrics, alarms });

    if (isLocal(config)) {
      adaptToEmulator({
        sealKey,
        alarms,
        tokenAnswers: [
          { role: startTask.role, actions: ['states:SendTaskFailure', 'states:SendTaskSuccess'] },
          { role: receiveWebhook.role, actions: ['states:SendTaskSuccess'] },
        ],
      });
    }

    this.output('ApiUrl', url, 'Base address of the API');
    this.output('ApiId', api.apiId, 'Id of the API');
    this.output('WebhookUrl', webhookUrl, 'Register this address at the provider');
    this.output('ExtractionsTableName', storage.extractions.tableName, 'The record of every extraction');
    this.output('ExtractionsTableArn', storage.extractions.tableArn, 'The same, as an ARN');
    this.output('ExtractionsStreamArn', streamArn, 'What downstream services read: docs/stream.md');
    if (fanOut !== undefined) {
      this.output(
        'EventBusArn',
        fanOut.bus.eventBusArn,
        'Outcomes, for any number of readers: docs/stream.md',
      );
    }
    this.output('DataKeyArn', dataKey.key.keyArn, 'Encrypts tables, stream, results and logs');
    this.output('TasksTableName', storage.tasks.tableName, 'Private: the rendezvous of tasks and tokens');
    this.output('ResultsBucketName', storage.results.bucketName, 'Results as the provider gave them');
    this.output('StateMachineArn', machine.stateMachineArn, 'One execution per extraction, named by its id');
    this.output(
      'ReconcileFunctionName',
      reconcileExtraction.function.functionName,
      'Has one extraction looked at: `cosecha reconcile <extractionId>` invokes it',
    );
    this.output('SweepFunctionName', sweepExtractions.function.functionName, 'Invoke it to sweep now');
    this.output('DeadLetterQueueUrl', deadLetters.queueUrl, 'What could not be reconciled');
    this.output('DashboardName', dashboard.name, 'In CloudWatch, under Dashboards; how it goes, at a glance');
    this.output(
      'FillProviderApiKey',
      secrets.fillCommand(secrets.providerApiKey),
      "Run this in bash or zsh, then type the provider's API key",
    );
    this.output(
      'FillWebhookSigningKey',
      secrets.fillCommand(secrets.webhookSigningKey),
      "Run this in bash or zsh, then type the provider's webhook key",
    );
  }

  /** For readers of the stream, who look it up when they deploy. */
  private publish(id: string, parameterName: string, stringValue: string): void {
    new StringParameter(this, id, { parameterName, stringValue });
  }

  private output(id: string, value: string, description: string): void {
    new CfnOutput(this, id, { value, description });
  }
}

/** What the functions need to know of time, in seconds. */
const timingsOf = (config: Config) => ({
  startWindow: config.startWindowSeconds,
  startTimeout: config.startTimeoutSeconds,
  deadline: config.deadlineSeconds,
  machineSlack: config.machineSlackSeconds,
  pollEvery: config.pollEverySeconds,
  collectInMachine: config.collectInMachineSeconds,
  collectFor: config.collectForSeconds,
  grace: config.graceSeconds,
  recordRetention: config.recordRetentionDays * DAY,
});

/**
 * A reconciliation reads the task at worst with login, read, login again and read, and then stores up to
 * 20 MiB, for which 40 s are ample. Defaults: 4 × 20 + 40 = 120 s, well within the sweep's 5 minutes.
 */
const reconcileTimeout = (config: Config): Duration =>
  Duration.seconds(Math.ceil((4 * config.providerTimeoutMs) / 1_000) + 40);

/**
 * Measured with results of 20 MiB (docs/decisions/0012): 110 MB for Node and all that is loaded; with one of them at a
 * time, twenty in one process, at the most 412 MB, where a single dash makes the whole text take two bytes a character.
 * That is 15 MB for each MiB, as bytes, as text, as an object and as what is not collected yet. Of a sweep's eight each
 * further one adds 3, as garbage is collected between them. A quarter on top: 1.25 × (110 + 15 × 20) = 513 MB for the
 * machine's, 1.25 × (410 + 7 × 3 × 20) = 1,038 MB for the sweep. More would make nothing faster, as both wait most of
 * their time, and every extraction pays for the first.
 */
const memoryForResults = (config: Config, atOnce: number): number => {
  const mebibytes = config.resultsMaxBytes / 1_048_576;
  return Math.ceil(1.25 * (110 + 15 * mebibytes + (atOnce - 1) * 3 * mebibytes));
};
