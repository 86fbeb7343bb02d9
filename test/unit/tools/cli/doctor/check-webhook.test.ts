import { expect, test } from 'vitest';
import { signaturePattern } from '../../../../../lib/provider/assumptions.ts';
import { checkWebhook } from '../../../../../tools/cli/doctor/check-webhook.ts';
import { fail } from '../../../../support/stub-client.ts';

const url = 'https://hook.example/webhooks/provider';

const check = async (status: number) => {
  const requests: RequestInit[] = [];
  const finding = await checkWebhook(async (_url, init) => {
    requests.push(init);
    return new Response(null, { status });
  }, url);
  return { finding, requests };
};

test('a webhook that refuses a well-formed wrong signature passes, with its URL', async () => {
  const { finding, requests } = await check(401);
  expect(finding).toEqual({
    result: 'passed',
    message: `webhook refuses a wrong signature; the URL to register at the provider is ${url}`,
  });
  const headers = requests[0]?.headers as Record<string, string>;
  expect(headers['x-service-signature']).toMatch(signaturePattern);
});

test.each([
  [503, 'webhook answers 503: it has no signing key'],
  [502, 'webhook answers 502'],
  [404, `webhook ${url} answers 404 instead of 401`],
  [204, 'webhook accepts a wrong signature'],
])('a webhook that answers %d fails', async (status, message) => {
  expect((await check(status)).finding).toMatchObject({ result: 'failed', message });
});

test('a webhook that does not answer fails', async () => {
  const finding = await checkWebhook(() => fail(new TypeError('fetch failed')), url);
  expect(finding).toMatchObject({ result: 'failed', message: `webhook ${url} does not answer` });
});
