import { expect, test } from 'vitest';
import {
  type ConsentScenario,
  formatNationalId,
} from '../../../../../../tools/acceptance/fake-provider/function/scenario.ts';
import { connectFakeProvider } from './client-and-fake-provider.ts';

/** The consent of a user who has authorized it, and the user's Task Token. */
const authorized = async (scenario: Partial<ConsentScenario>) => {
  const fakeProvider = connectFakeProvider();
  const { client, clock } = fakeProvider;
  const target = formatNationalId({ endsAfter: 0, authorizedAt: clock.now - 1, ...scenario });
  const asked = { products: ['tef'], user: { username: target }, widgetConfigId: 'fake-widget' } as const;
  const { consentId } = await client.createOtpToken(asked);
  return { ...fakeProvider, target, consentId, token: await client.createTaskToken(target) };
};

test('a consent is authorized at the time in the national id', async () => {
  const { client, clock, consentId, token } = await authorized({ authorizedAt: 1_795_000_010 });
  expect(consentId).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-a[\da-f]{3}-[\da-f]{12}$/);
  expect(await client.getConsent(token, consentId)).toMatchObject({ id: consentId, status: 'IN_PROGRESS' });
  const start = { product: 'tef', consentId } as const;
  await expect(client.startExtraction(token, start)).rejects.toMatchObject({ status: 403 });
  clock.now += 10;
  expect(await client.getConsent(token, consentId)).toMatchObject({ status: 'ACTIVE' });
  await expect(client.startExtraction(token, start)).resolves.toBeTypeOf('string');
  const revoked = { consentId, status: 'INACTIVE', subStatus: 'REVOKED' };
  expect(await client.revokeConsent(token, consentId)).toEqual(revoked);
});

test('a Task Token reaches only the data of its user, and no id has the national id in it', async () => {
  const { client, consentId, token, target } = await authorized({});
  const taskId = await client.startExtraction(token, { product: 'tef', consentId });
  const stranger = formatNationalId({ endsAfter: 2, authorizedAt: 1_795_000_000 });
  const strange = await client.createTaskToken(stranger);
  await expect(client.getConsent(strange, consentId)).rejects.toMatchObject({ status: 404 });
  await expect(client.pollExtraction(strange, taskId)).rejects.toMatchObject({ status: 404 });
  // Ids are no secrets.
  expect(`${taskId} ${consentId}`).not.toContain(target.slice(0, 8));
});

test('a token expires after an hour', async () => {
  const { client, clock, consentId, token } = await authorized({});
  clock.now += 60 * 60 - 1;
  await expect(client.getConsent(token, consentId)).resolves.toMatchObject({ id: consentId });
  clock.now += 1;
  await expect(client.getConsent(token, consentId)).rejects.toMatchObject({ name: 'ProviderUnauthorized' });
});
