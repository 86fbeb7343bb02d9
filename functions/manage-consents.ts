import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { promptClient } from '../lib/aws/wiring/aws-client-timeouts.ts';
import { neededSetting } from '../lib/aws/wiring/environment.ts';
import { httpHandler } from '../lib/aws/wiring/http-handler.ts';
import {
  apiKeyFromEnvironment,
  connectionFromEnvironment,
  taskTokensFromEnvironment,
} from '../lib/aws/wiring/provider-from-environment.ts';
import { answerConsentRequest, type ConsentDeps } from '../lib/consents/answer-consent-request.ts';
import { telemetry } from '../lib/observability/powertools-telemetry.ts';

/** A consent is some 500 bytes, so this is a page of thousands; API Gateway passes on at most 6 MB. */
const maxAnswerBytes = 4 * 1024 * 1024;

const now = () => new Date();
const withApiKey = apiKeyFromEnvironment(new SecretsManagerClient(promptClient), now);
const connection = connectionFromEnvironment(maxAnswerBytes);
const deps: ConsentDeps = {
  connection,
  taskTokens: taskTokensFromEnvironment(withApiKey, connection, now),
  withApiKey,
  clientId: () => neededSetting('PROVIDER_CLIENT_ID', 'providerClientId'),
  widgetConfigId: () => neededSetting('WIDGET_CONFIG_ID', 'widgetConfigId'),
  telemetry,
};

export const handler = httpHandler(async (event) => {
  const answer = await answerConsentRequest(event, deps);
  telemetry.log('Consent request answered.', { route: event.routeKey, status: answer.statusCode });
  return answer;
});
