import { Stack } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { stackNameOf } from '../../lib/aws/stage.ts';
import type { AcceptedRequests } from '../../lib/extraction/api/parse-request.ts';
import type { notShownEndpoints } from '../../lib/provider/assumptions.ts';
import type { ActionParams } from '../../lib/provider/vocabulary.ts';
import { reconcileTimeout } from '../constructs/reconcile-queue.ts';
import { secretArn } from '../constructs/secrets.ts';
import type { Resources } from '../resources.ts';
import type { Config } from '../settings/config.ts';
import type { Contract, Setting } from './contracts.ts';

/** What a function uses. The dispatcher is the one function that another one invokes, and is created before it. */
export type Used = Resources & { readonly dispatcher?: IFunction };

/** The environment variables that a contract names. A setting that is not set has none. */
export const environmentOf = (
  { settings, ...needed }: Contract,
  used: Used,
): Readonly<Record<string, string>> => {
  const named: Readonly<Record<string, Named>> = namedBy(used);
  const itsSettings = settingsOf(used.config);
  const variables = [
    ...Object.keys(needed).map((name) => [name, named[name]?.value] as const),
    ...settings.map((name) => [name, itsSettings[name]] as const),
  ];
  return Object.fromEntries(variables.filter((pair): pair is [string, string] => pair[1] !== undefined));
};

/** What a contract has actions on: the value of its variable, and the service and the ARN of the actions. */
type Named = Readonly<Partial<Record<'value' | 'service' | 'arn', string | undefined>>>;

export const namedBy = ({
  storage,
  queue,
  eraseQueue,
  secrets,
  machineArn,
  ...used
}: Used): Readonly<Record<Exclude<keyof Contract, 'settings'>, Named>> => {
  const table = ({ tableName, tableArn }: Table) => ({
    service: 'dynamodb',
    value: tableName,
    arn: tableArn,
  });
  const queueOf = ({ queueUrl, queueArn }: Queue) => ({ service: 'sqs', value: queueUrl, arn: queueArn });
  const secret = (name: string) => ({
    service: 'secretsmanager',
    value: name,
    arn: secretArn(Stack.of(secrets), name),
  });
  const everyResult = storage.results.arnForObjects('*');
  return {
    EXTRACTIONS_TABLE: table(storage.extractions),
    TASKS_TABLE: table(storage.tasks),
    REQUESTS_TABLE: table(storage.requests),
    BREAKERS_TABLE: table(storage.breakers),
    REFUSALS_TABLE: table(storage.refusals),
    START_LINE_TABLE: table(storage.startLine),
    ERASURES_TABLE: table(storage.erasures),
    RESULTS_BUCKET: { service: 's3', value: storage.results.bucketName, arn: everyResult },
    resultsLocation: { service: 's3', arn: everyResult },
    resultsList: { service: 's3', arn: storage.results.bucketArn },
    PROVIDER_API_KEY_SECRET: secret(secrets.providerApiKey),
    WEBHOOK_SIGNING_KEY_SECRET: secret(secrets.webhookSigningKey),
    FINGERPRINT_KEY_SECRET: secret(secrets.fingerprintKey),
    RECONCILE_QUEUE_URL: queueOf(queue.queue),
    SLOW_QUEUE_URL: queueOf(queue.slow),
    ERASE_QUEUE_URL: queueOf(eraseQueue.queue),
    EVENT_BUS: {
      service: 'events',
      value: used.outcomeBus?.bus.eventBusName,
      arn: used.outcomeBus?.bus.eventBusArn,
    },
    DISPATCHER_NAME: {
      service: 'lambda',
      value: used.dispatcher?.functionName,
      arn: used.dispatcher?.functionArn,
    },
    STATE_MACHINE_ARN: { service: 'states', value: machineArn, arn: machineArn },
    callbackToken: { service: 'states', arn: machineArn },
    SEAL_KEY_ARN: { value: used.sealKey.key.keyArn },
  };
};

const settingsOf = (config: Config): Readonly<Record<Setting, string | undefined>> => ({
  ACCEPTED_REQUESTS: JSON.stringify(acceptedRequestsOf(config)),
  BREAKER: breakerOf(config),
  ENCRYPT_RAW_CREDENTIALS: String(config.encryptRawCredentials),
  EVENT_SOURCE: `urn:cosecha:stack:${stackNameOf(config.stage)}`,
  PROVIDER_BASE_URL: config.providerBaseUrl,
  PROVIDER_CLIENT_ID: config.providerClientId,
  PROVIDER_ENDPOINTS: endpointsOf(config),
  PROVIDER_SENDS_WEBHOOKS: String(config.providerSendsWebhooks),
  PROVIDER_TIMEOUTS: providerTimeoutsOf(config),
  RATE: JSON.stringify({ perSecond: config.startsPerSecond }),
  READERS: JSON.stringify(config.readers),
  REFUSED_CREDENTIALS_DAYS: String(config.refusedCredentialsDays),
  RESULTS_MAX_BYTES: String(config.resultsMaxBytes),
  RESULTS_RETENTION_DAYS: String(config.resultsRetentionDays),
  SESSION_MINUTES: String(config.sessionMinutes),
  SIGNING_KEY_REFRESH_SECONDS: String(config.signingKeyRefreshSeconds),
  TASK_TOKEN_MINUTES: String(config.taskTokenMinutes),
  TIMINGS: timingsOf(config),
  WIDGET_CONFIG_ID: config.widgetConfigId,
});

/** What the settings let requests name. Without `entities`, any entity. */
export const acceptedRequestsOf = ({ entities, moreActions }: Config): AcceptedRequests => ({
  ...(entities.length > 0 ? { entities } : {}),
  ...(moreActions.length > 0
    ? {
        moreActions: Object.fromEntries(
          moreActions.map((action): [string, ActionParams] => {
            const [id = '', params] = action.split(':');
            return [id, params === 'dateRange' ? params : 'none'];
          }),
        ),
      }
    : {}),
});

/** No call takes longer than `maxMs`. */
export const providerTimeoutsOf = (config: Config, maxMs = Number.POSITIVE_INFINITY): string =>
  JSON.stringify({
    connect: Math.min(config.providerConnectTimeoutMs, maxMs),
    total: Math.min(config.providerTimeoutMs, maxMs),
  });

/** The endpoints that the provider's document does not show, as JSON. */
const endpointsOf = (config: Config): string =>
  JSON.stringify({
    consentPdf: config.consentPdfEndpoint,
    revokeConsent: config.revokeConsentEndpoint,
    startExtractionV2: config.startExtractionV2Endpoint,
    pollExtractionV2: config.pollExtractionV2Endpoint,
  } satisfies Record<keyof typeof notShownEndpoints, string>);

const daySeconds = 86_400;

/** The timings of `lib/extraction`, in seconds, as JSON. */
const timingsOf = (config: Config): string =>
  JSON.stringify({
    startWindow: config.startWindowSeconds,
    maxWait: config.maxWaitSeconds,
    startTimeout: config.startTimeoutSeconds,
    reconcileTimeout: reconcileTimeout(config).toSeconds(),
    deadline: config.deadlineSeconds,
    machineSlack: config.machineSlackSeconds,
    pollFirst: config.pollFirstSeconds,
    pollEvery: config.pollEverySeconds,
    collectFor: config.collectForSeconds,
    resultsLag: Math.min(config.resultsLagSeconds, config.collectForSeconds),
    grace: config.graceSeconds,
    recordRetention: config.recordRetentionDays * daySeconds,
  });

/** Added to the timeout of start-task, so that its process has ended before another one takes the turn. */
const turnMarginSeconds = 10;

const breakerOf = (config: Config): string =>
  JSON.stringify({
    failures: config.breakerFailures,
    openSeconds: config.breakerOpenSeconds,
    maxOpenSeconds: config.breakerMaxOpenSeconds,
    slowCallSeconds: config.breakerSlowCallSeconds,
    turnSeconds: config.startTimeoutSeconds + turnMarginSeconds,
  });
