import { DEMO_BUSINESS_ID } from './outcome-table.ts';
import { type ClientOptions, DEFAULT_WIDGET_CONFIG_ID } from './registered-client.ts';

/** Three shell lines to run in order: log in, start a task, read it. */
export const curlLines = (baseUrl: string, apiKey: string): readonly [string, string, string] => {
  const request = {
    entity: 'demo-bank',
    credentials: {
      mode: 'raw',
      value: { businessId: DEMO_BUSINESS_ID, username: 'completed-both', password: 'anything' },
    },
    actions: [
      { id: 'product-balance' },
      { id: 'movement', params: { dateRange: { startDate: '2026-01-01', endDate: '2026-01-31' } } },
    ],
  };
  // The answer has one field. Its value is between the last two quotes.
  const field = String.raw`sed 's/.*:"\(.*\)".*/\1/'`;
  return [
    `TOKEN=$(curl -s -X POST ${baseUrl}/api/v1/auth/login -H 'X-API-Key: ${apiKey}' | ${field})`,
    `TASK_ID=$(curl -s -X POST ${baseUrl}/api/v2/tasks -H "Authorization: Bearer $TOKEN" -d '${JSON.stringify(request)}' | ${field})`,
    `curl -s ${baseUrl}/api/v2/tasks/$TASK_ID -H "Authorization: Bearer $TOKEN"`,
  ];
};

/** A shell line that prints the URL of a new consent page. */
export const consentPageLine = (baseUrl: string, { apiKey, clientId }: ClientOptions): string => {
  const request = {
    products: ['movement', 'product-balance'],
    user: { username: '11111111-1' },
    clientId,
    widgetConfigId: DEFAULT_WIDGET_CONFIG_ID,
    locale: 'en',
  };
  const token = String.raw`sed 's/.*"otpToken":"\([^"]*\)".*/\1/'`;
  return `echo "${baseUrl}/widget?otpToken=$(curl -s -X POST ${baseUrl}/api/v1/token/otp/create -H 'x-api-key: ${apiKey}' -d '${JSON.stringify(request)}' | ${token})"`;
};
