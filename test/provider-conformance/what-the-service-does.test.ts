import { describe, expect } from 'vitest';
import { ProviderRefused } from '../../lib/provider/index.ts';
import {
  balanceAndMovement,
  client,
  control,
  endOf,
  extracted,
  fails,
  otpRequest,
  server,
  someConsent,
  statement,
  taskFor,
} from './server-under-test.ts';

/** Section "What the service does" of the provider's API document. */

describe('What the service does', () => {
  statement('data of financial products is extracted from a financial entity', ['credentials'], async () => {
    const { results } = await endOf(taskFor('COMPLETED', balanceAndMovement));
    expect(results?.entityId).toBe(server.entity);
    expect(results?.actions.every(({ output }) => output !== null)).toBe(true);
  });

  statement(
    'in the consent flow an OTP token is authorized, a Task Token bound to one user, and one product extracted',
    ['control'],
    async () => {
      const request = otpRequest();
      const { otpToken, consentId } = await client.createOtpToken(request);
      // As the widget does: the user opens it with the token, and authorizes.
      const page = await fetch(`${server.baseUrl}/widget?otpToken=${encodeURIComponent(otpToken)}`);
      const key = /name="key" value="([^"]+)"/.exec(await page.text())?.[1] ?? '';
      const decision = { key, decision: 'authorize', product: 'tef', entity: 'demo-bank' };
      const body = new URLSearchParams(decision);
      expect((await fetch(`${server.baseUrl}/widget`, { method: 'POST', body })).status).toBe(200);
      const token = await client.createTaskToken(request.user.username);
      const { results } = await extracted(token, { product: 'tef', consentId });
      expect(results.length).toBeGreaterThan(0);
    },
  );

  statement(
    'in the credential flow a session token starts a task, whose result is read by polling',
    ['credentials'],
    async () => {
      expect(await client.sessionToken()).not.toBe('');
      expect(await endOf(taskFor('COMPLETED'))).toMatchObject({ taskStatus: 'COMPLETED' });
    },
  );

  statement('two kinds of user exist: natural and legal persons', ['widget'], async () => {
    const request = otpRequest();
    const natural = await client.createOtpToken(request);
    const legal = await client.createLegalPersonOtpToken({ ...request, company: { id: '77.777.777-7' } });
    expect(natural.consentId).not.toBe(legal.consentId);
  });

  statement(
    'consents can be listed, read, downloaded as a PDF and revoked',
    // Not on another server: the suite needs its consent.
    ['control'],
    async () => {
      const { token, consentId } = await someConsent();
      expect((await client.listConsents(token)).consents.map(({ id }) => id)).toEqual([consentId]);
      expect(await client.getConsent(token, consentId)).toMatchObject({ id: consentId });
      expect(await client.getConsentPdf(token, consentId)).toMatchObject({ url: expect.any(String) });
      expect(await client.revokeConsent(token, consentId)).toMatchObject({ status: 'INACTIVE' });
    },
  );

  statement('a legacy v1 task API exists, and `responseType` forces behaviours', ['presets'], async () => {
    const request = { action: `${server.entity}:tef`, credentials: { username: 'u', password: 'p' } };
    const call = client.startLegacyTask(request, { responseType: 'forbidden' });
    await fails(call, ProviderRefused, { refusal: 'forbidden' });
    if (server.control !== undefined) {
      expect((await control().calls({ path: '/api/v1/tasks' })).at(-1)).toMatchObject({ status: 403 });
    }
  });
});
