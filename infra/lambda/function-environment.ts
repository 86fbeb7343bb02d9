import { stackNameOf } from '../../lib/aws/stage.ts';
import type { AcceptedRequests } from '../../lib/extraction/api/parse-request.ts';
import type { notShownEndpoints } from '../../lib/provider/assumptions.ts';
import type { ActionParams } from '../../lib/provider/vocabulary.ts';
import { reconcileTimeout } from '../constructs/reconcile-queue.ts';
import type { Config } from '../settings/config.ts';

/** A setting that is optional has no variable where it is not set. */
export type Setting = keyof ReturnType<typeof settingsOf>;

/** The variables that are settings. */
export const settingsOf = (config: Config) => ({
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
