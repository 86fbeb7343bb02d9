import type { notShownEndpoints } from '../lib/provider/assumptions.ts';
import { reconcileTimeout } from './constructs/reconcile-queue.ts';
import type { Secrets } from './constructs/secrets.ts';
import type { Storage } from './constructs/storage.ts';
import type { Config } from './settings/config.ts';

/** What the functions need that learn of outcomes. */
export const outcomesOf = ({ config, storage }: { config: Config; storage: Storage }) => ({
  EXTRACTIONS_TABLE: storage.extractions.tableName,
  TASKS_TABLE: storage.tasks.tableName,
  REFUSALS_TABLE: storage.refusals.tableName,
  REFUSED_CREDENTIALS_DAYS: String(config.refusedCredentialsDays),
});

/** What a function needs to call the provider. */
export const providerOf = ({ config, secrets }: { config: Config; secrets: Secrets }) => ({
  PROVIDER_BASE_URL: config.providerBaseUrl,
  PROVIDER_API_KEY_SECRET: secrets.providerApiKey,
  PROVIDER_TIMEOUTS: JSON.stringify({
    connect: config.providerConnectTimeoutMs,
    total: config.providerTimeoutMs,
  }),
  ...endpointsOf(config),
  SESSION_MINUTES: String(config.sessionMinutes),
  TASK_TOKEN_MINUTES: String(config.taskTokenMinutes),
  ...providerClientOf(config),
});

/** The endpoints that the provider's document does not show, as JSON. */
export const endpointsOf = (config: Config) => ({
  PROVIDER_ENDPOINTS: JSON.stringify({
    consentPdf: config.consentPdfEndpoint,
    revokeConsent: config.revokeConsentEndpoint,
    startExtractionV2: config.startExtractionV2Endpoint,
    pollExtractionV2: config.pollExtractionV2Endpoint,
  } satisfies Record<keyof typeof notShownEndpoints, string>),
});

export const providerClientOf = ({ providerClientId }: Config) =>
  providerClientId === undefined ? {} : { PROVIDER_CLIENT_ID: providerClientId };

const daySeconds = 86_400;

/** The timings of `lib/extraction`, in seconds, as JSON. */
export const timingsOf = (config: Config): string =>
  JSON.stringify({
    startWindow: config.startWindowSeconds,
    startTimeout: config.startTimeoutSeconds,
    reconcileTimeout: reconcileTimeout(config).toSeconds(),
    deadline: config.deadlineSeconds,
    machineSlack: config.machineSlackSeconds,
    pollFirst: config.pollFirstSeconds,
    pollEvery: config.pollEverySeconds,
    collectFor: config.collectForSeconds,
    grace: config.graceSeconds,
    recordRetention: config.recordRetentionDays * daySeconds,
  });

/** Added to the timeout of start-task, so that its process has ended before another one takes the turn. */
const turnMarginSeconds = 10;

/** What start-task needs for the breakers. */
export const breakerOf = ({ config, storage }: { config: Config; storage: Storage }) => ({
  BREAKERS_TABLE: storage.breakers.tableName,
  BREAKER: JSON.stringify({
    failures: config.breakerFailures,
    openSeconds: config.breakerOpenSeconds,
    maxOpenSeconds: config.breakerMaxOpenSeconds,
    slowCallSeconds: config.breakerSlowCallSeconds,
    turnSeconds: config.startTimeoutSeconds + turnMarginSeconds,
  }),
});
