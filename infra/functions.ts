import { Duration } from 'aws-cdk-lib';
import { RecursiveLoop } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { allow } from './constructs/allow.ts';
import { CosechaFunction } from './constructs/cosecha-function.ts';
import type { DataKey } from './constructs/data-key.ts';
import { extractionMachineArn } from './constructs/extraction-machine.ts';
import type { Network } from './constructs/network-props.ts';
import { type ReconcileQueue, reconcileTimeout } from './constructs/reconcile-queue.ts';
import type { SealKey } from './constructs/seal-key.ts';
import type { Secrets } from './constructs/secrets.ts';
import type { Storage } from './constructs/storage.ts';
import { breakerOf, outcomesOf, providerClientOf, providerOf, timingsOf } from './function-environment.ts';
import type { FunctionCode } from './function-names.ts';
import type { Config } from './settings/config.ts';

/** What exists before the functions, and what their environment and permissions refer to. */
export type Resources = {
  readonly config: Config;
  readonly dataKey: DataKey;
  readonly sealKey: SealKey;
  readonly secrets: Secrets;
  readonly storage: Storage;
  readonly queue: ReconcileQueue;
  /** For the functions that call the provider. */
  readonly network: Network | undefined;
};

type Context = Resources & {
  readonly scope: Construct;
  readonly code: FunctionCode;
  readonly machineArn: string;
};

export type CosechaFunctions = ReturnType<typeof createFunctions>;

/** The seven functions, each with exactly the environment and the permissions that its code uses. */
export const createFunctions = (scope: Construct, resources: Resources, code: FunctionCode) => {
  const context: Context = {
    ...resources,
    scope,
    code,
    machineArn: extractionMachineArn(scope, resources.config),
  };
  const functions = {
    requestExtraction: requestExtraction(context),
    getExtraction: getExtraction(context),
    startTask: startTask(context),
    receiveWebhook: receiveWebhook(context),
    reconcileExtraction: reconcileExtraction(context),
    sweepExtractions: sweepExtractions(context),
    manageConsents: manageConsents(context),
  };
  allowKeys(context, functions);
  resources.storage.acknowledgeEveryResult(functions.getExtraction.role, functions.reconcileExtraction.role);
  return functions;
};

const requestExtraction = (context: Context): CosechaFunction => {
  const { scope, config, code, dataKey, sealKey, secrets, storage, machineArn } = context;
  return new CosechaFunction(scope, 'RequestExtraction', {
    config,
    dataKey,
    name: 'request-extraction',
    code: code['request-extraction'],
    timeout: Duration.seconds(15),
    // Of `npm run cost`: 12 ms of CPU take 42 ms more for the caller than with 512 MB, and the bill is $0.14 less.
    memoryMB: 256,
    environment: {
      EXTRACTIONS_TABLE: storage.extractions.tableName,
      REQUESTS_TABLE: storage.requests.tableName,
      TIMINGS: timingsOf(config),
      ...providerClientOf(config),
      STATE_MACHINE_ARN: machineArn,
      SEAL_KEY_ARN: sealKey.key.keyArn,
      FINGERPRINT_KEY_SECRET: secrets.fingerprintKey,
    },
    permissions: [
      storage.onExtractions('PutItem'),
      storage.onRequests('DeleteItem', 'PutItem'),
      dataKey.writingTables(),
      ...secrets.reading(secrets.fingerprintKey),
      allow(['states:StartExecution'], [machineArn]),
    ],
  });
};

const getExtraction = ({ scope, config, code, dataKey, storage }: Context): CosechaFunction =>
  new CosechaFunction(scope, 'GetExtraction', {
    config,
    dataKey,
    name: 'get-extraction',
    code: code['get-extraction'],
    timeout: Duration.seconds(10),
    memoryMB: 256,
    environment: {
      EXTRACTIONS_TABLE: storage.extractions.tableName,
      RESULTS_RETENTION_DAYS: String(config.resultsRetentionDays),
      READERS: JSON.stringify(config.readers),
    },
    // The presigned URL acts with this role, so the role needs GetObject and its Decrypt.
    permissions: [
      storage.onExtractions('GetItem'),
      storage.findingByReference(),
      dataKey.readingTables(),
      storage.onResults('GetObject'),
      dataKey.readingObjects(),
    ],
  });

const startTask = (context: Context): CosechaFunction => {
  const { scope, config, code, network, dataKey, sealKey, secrets, storage, queue, machineArn } = context;
  return new CosechaFunction(scope, 'StartTask', {
    config,
    dataKey,
    network,
    name: 'start-task',
    code: code['start-task'],
    timeout: Duration.seconds(config.startTimeoutSeconds),
    // It mostly waits for the provider, and no caller waits for it. It needs about 95 MB (`memoryForResults`). `npm run cost`: its
    // 25 ms of CPU take 276 ms at 160 / 1,769 of a vCPU and 173 ms at 256, and a million of them cost $0.50 less.
    memoryMB: 160,
    reservedConcurrency: config.startReservedConcurrency,
    environment: {
      ...outcomesOf(context),
      REQUESTS_TABLE: storage.requests.tableName,
      TIMINGS: timingsOf(config),
      ...providerOf(context),
      SEAL_KEY_ARN: sealKey.key.keyArn,
      ENCRYPT_RAW_CREDENTIALS: String(config.encryptRawCredentials),
      FINGERPRINT_KEY_SECRET: secrets.fingerprintKey,
      RECONCILE_QUEUE_URL: queue.queue.queueUrl,
      ...breakerOf(context),
    },
    permissions: [
      queue.sending(),
      storage.onExtractions('GetItem', 'UpdateItem'),
      storage.onTasks('UpdateItem'),
      storage.onRequests('DeleteItem', 'GetItem', 'PutItem'),
      storage.onBreakers('GetItem', 'PutItem'),
      storage.onRefusals('GetItem', 'PutItem'),
      dataKey.writingTables(),
      ...secrets.reading(secrets.fingerprintKey, secrets.providerApiKey),
      allow(['states:SendTaskFailure', 'states:SendTaskSuccess'], [machineArn]),
    ],
  });
};

const receiveWebhook = (context: Context): CosechaFunction => {
  const { scope, config, code, dataKey, secrets, storage, queue, machineArn } = context;
  return new CosechaFunction(scope, 'ReceiveWebhook', {
    config,
    dataKey,
    name: 'receive-webhook',
    code: code['receive-webhook'],
    // The provider closes the connection after 5 s. The function still finishes its writes, and repeats are harmless.
    timeout: Duration.seconds(10),
    memoryMB: 512,
    environment: {
      ...outcomesOf(context),
      WEBHOOK_SIGNING_KEY_SECRET: secrets.webhookSigningKey,
      SIGNING_KEY_REFRESH_SECONDS: String(config.signingKeyRefreshSeconds),
      TIMINGS: timingsOf(config),
      RECONCILE_QUEUE_URL: queue.queue.queueUrl,
    },
    permissions: [
      queue.sending(),
      storage.onExtractions('UpdateItem'),
      storage.onTasks('UpdateItem'),
      storage.onRefusals('PutItem'),
      dataKey.writingTables(),
      ...secrets.reading(secrets.webhookSigningKey),
      allow(['states:SendTaskSuccess'], [machineArn]),
    ],
    reservedConcurrency: config.webhookReservedConcurrency,
  });
};

const reconcileExtraction = (context: Context): CosechaFunction => {
  const { scope, config, code, network, dataKey, sealKey, secrets, storage, queue } = context;
  const reconciling = new CosechaFunction(scope, 'ReconcileExtraction', {
    config,
    dataKey,
    network,
    name: 'reconcile-extraction',
    code: code['reconcile-extraction'],
    timeout: reconcileTimeout(config),
    memoryMB: memoryForResults(config),
    reservedConcurrency: config.reconcileReservedConcurrency,
    // A message `due` sends the next one, so that an extraction by consent is polled about sixty times in two hours. Lambda
    // would stop that after 16 (https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html). The chain ends by
    // itself: deadline, grace and collectFor close the record, and only the process that moved dueAt sends another message.
    recursiveLoop: RecursiveLoop.ALLOW,
    environment: {
      ...outcomesOf(context),
      REQUESTS_TABLE: storage.requests.tableName,
      TIMINGS: timingsOf(config),
      ...providerOf(context),
      SEAL_KEY_ARN: sealKey.key.keyArn,
      RESULTS_BUCKET: storage.results.bucketName,
      RESULTS_MAX_BYTES: String(config.resultsMaxBytes),
      RECONCILE_QUEUE_URL: queue.queue.queueUrl,
      SLOW_QUEUE_URL: queue.slow.queueUrl,
      BREAKERS_TABLE: storage.breakers.tableName,
    },
    permissions: [
      queue.sending(),
      ...queue.receiving(),
      storage.onExtractions('GetItem', 'UpdateItem'),
      storage.onTasks('GetItem', 'UpdateItem'),
      storage.onRequests('DeleteItem', 'GetItem', 'UpdateItem'),
      storage.onBreakers('GetItem'),
      storage.onRefusals('PutItem'),
      dataKey.writingTables(),
      storage.onResults('PutObject'),
      dataKey.storingObjects(),
      ...secrets.reading(secrets.providerApiKey),
    ],
  });
  queue.consumeWith(reconciling);
  return reconciling;
};

/** A sweep that found everything due may take longer than to the next one, which then finds what is left. */
const sweepTimeout = (config: Config): Duration =>
  Duration.seconds(Math.min(900, 60 * config.sweepEveryMinutes));

const sweepExtractions = ({ scope, config, code, dataKey, storage, queue }: Context): CosechaFunction =>
  new CosechaFunction(scope, 'SweepExtractions', {
    config,
    dataKey,
    name: 'sweep-extractions',
    code: code['sweep-extractions'],
    timeout: sweepTimeout(config),
    // Leases take CPU, which follows memory. A sweep that finds nothing ends in 0.2 s whatever its size.
    memoryMB: 512,
    environment: {
      EXTRACTIONS_TABLE: storage.extractions.tableName,
      RECONCILE_QUEUE_URL: queue.queue.queueUrl,
    },
    permissions: [
      storage.onExtractions('UpdateItem'),
      storage.findingDue(),
      dataKey.writingTables(),
      queue.sending(),
    ],
  });

/** API Gateway ends an integration after 30 s. One second less lets the function answer with its own problem. */
const consentsTimeoutSeconds = 29;

/**
 * A request about consents makes up to four calls to the provider: a Task Token, the call, and both again after a 401.
 * 4 × 6.5 s leave 3 s for a cold start and for reading the secret twice.
 */
const consentsProviderTimeoutMs = 6_500;

const manageConsents = ({ scope, config, code, network, dataKey, secrets }: Context): CosechaFunction =>
  new CosechaFunction(scope, 'ManageConsents', {
    config,
    dataKey,
    network,
    name: 'manage-consents',
    code: code['manage-consents'],
    timeout: Duration.seconds(consentsTimeoutSeconds),
    memoryMB: 512,
    environment: {
      TASK_TOKEN_MINUTES: String(config.taskTokenMinutes),
      ...providerClientOf(config),
      ...(config.widgetConfigId === undefined ? {} : { WIDGET_CONFIG_ID: config.widgetConfigId }),
      PROVIDER_BASE_URL: config.providerBaseUrl,
      PROVIDER_API_KEY_SECRET: secrets.providerApiKey,
      PROVIDER_TIMEOUTS: JSON.stringify({
        connect: Math.min(config.providerConnectTimeoutMs, consentsProviderTimeoutMs),
        total: Math.min(config.providerTimeoutMs, consentsProviderTimeoutMs),
      }),
    },
    permissions: [...secrets.reading(secrets.providerApiKey)],
  });

/**
 * In MB. `npm run bench:memory` prints 70 without results, and up to 6.5 more for each MiB of the largest results. Lambda's
 * own processes are assumed to take 25. A tenth is added on top. Default: 1.1 × (95 + 6.5 × 20) = 248, so 256. It is never
 * less, because CPU follows memory. 256 MB have 256 / 1,769 = 0.145 of a vCPU. With it, the 2 s of CPU for the worst 20 MiB
 * take 14 s, of the 40 s that `reconcileTimeout` leaves for parsing and storing.
 */
const memoryForResults = (config: Config): number =>
  Math.max(256, Math.round(1.1 * (95 + (6.5 * config.resultsMaxBytes) / 1_048_576)));

type Roles = Readonly<Record<'requestExtraction' | 'startTask' | 'reconcileExtraction', CosechaFunction>>;

/** The policies of the seal key and of the fingerprint key name their users, so that no IAM policy can add one. */
const allowKeys = ({ sealKey, secrets }: Context, functions: Roles): void => {
  secrets.reserveFingerprintKey(functions.requestExtraction.role, functions.startTask.role);
  sealKey.allowSealing(functions.requestExtraction.role);
  sealKey.allowUnsealing(functions.startTask);
  sealKey.allowUnsealingTargets(functions.reconcileExtraction);
};
