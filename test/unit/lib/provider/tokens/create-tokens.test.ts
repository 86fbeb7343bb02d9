import { expect, test } from 'vitest';
import {
  type Connection,
  createLegalPersonOtpToken,
  createOtpToken,
  createTaskToken,
} from '#lib/provider/index.ts';

test('a person authorizes a consent with an OTP token, and a Task Token uses the consents of that person', async () => {
  const target = '11.111.111-1';
  const consentId = '0a1b2c3d-0000-4000-8000-000000000001';
  const connection: Connection = {
    baseUrl: 'https://provider.example',
    fetch: async () => Response.json({ data: { otpToken: 'for the widget', consentId, taskToken: 'jwt' } }),
    totalTimeoutMs: 20_000,
    maxAnswerBytes: 65_536,
  };
  const request = { products: ['tef'], user: { username: target } } as const;
  const ids = { clientId: 'client-1', widgetConfigId: 'Widget-1' };
  const created = { otpToken: 'for the widget', consentId };
  expect(await createOtpToken(connection, 'api-key', { ...request, ...ids })).toMatchObject(created);
  const company = { id: '77777777-7' };
  const ofCompany = createLegalPersonOtpToken(connection, 'api-key', { ...request, ...ids, company });
  expect(await ofCompany).toMatchObject(created);
  const { taskToken } = await createTaskToken(connection, 'api-key', { target, clientId: 'client-1' });
  expect(taskToken).toBe('jwt');
});
