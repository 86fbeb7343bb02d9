import { expect, test } from 'vitest';
import {
  type Connection,
  getConsent,
  getConsentPdf,
  iterateConsents,
  listConsents,
  revokeConsent,
} from '../../../../../lib/provider/index.ts';
import { answering } from '../../../../support/data/canned-connection.ts';

test('the consents of a Task Token are listed, read and revoked', async () => {
  const id = '0a1b2c3d-0000-4000-8000-000000000001';
  const entity = { id: 'demo-bank', name: 'Demo bank', type: 'bank' };
  const ends = { status: 'ACTIVE', validUntil: '2027-01-31T00:00:00.000Z' };
  const consent = { id, products: ['tef'], tyc: { actualVersion: 3 }, entity, ...ends };
  const revoked = { consentId: id, status: 'INACTIVE', subStatus: 'REVOKED' };
  const connection: Connection = {
    baseUrl: 'https://provider.example',
    fetch: async (url) => {
      if (url.endsWith('/pdf')) return Response.json({ data: { url: 'https://files.example/1.pdf' } });
      if (url.endsWith('/revoke')) return Response.json({ data: revoked });
      const page = { consents: [consent], hasNext: false, count: 1 };
      return Response.json({ data: url.endsWith(id) ? consent : page });
    },
    totalTimeoutMs: 20_000,
    maxAnswerBytes: 65_536,
  };
  expect(await listConsents(connection, 'task-token')).toMatchObject({ consents: [consent], hasNext: false });
  for await (const one of iterateConsents(connection, 'task-token')) expect(one).toEqual(consent);
  expect(await getConsent(connection, 'task-token', id)).toEqual(consent);
  expect(await getConsentPdf(connection, 'task-token', id)).toEqual({ url: 'https://files.example/1.pdf' });
  expect(await revokeConsent(connection, 'task-token', id)).toEqual(revoked);
});

test('pages of consents that are empty and still promise more do not go on for ever', async () => {
  const body = JSON.stringify({ data: { consents: [], hasNext: true, count: 3 } });
  const { connection, calls } = answering(() => ({ body }));
  await expect(iterateConsents(connection, 'task-token').next()).rejects.toThrow('an empty page');
  expect(calls).toHaveLength(1);
});
