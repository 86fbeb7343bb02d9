import { expect, test } from 'vitest';
import {
  type Connection,
  getConsent,
  getConsentPdf,
  iterateConsents,
  listConsents,
  revokeConsent,
} from '#lib/provider/index.ts';
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

const consentOf = (id: string) => ({
  id,
  products: ['tef'],
  tyc: { actualVersion: 3 },
  entity: { id: 'demo-bank', name: 'Demo bank', type: 'bank' },
  status: 'ACTIVE',
  validUntil: '2027-01-31T00:00:00.000Z',
});
const listOf = (pages: readonly (readonly string[])[], ends = false) => {
  const { connection, calls } = answering(() => {
    const page = pages[(calls.length - 1) % pages.length] ?? [];
    const hasNext = !(ends && calls.length === pages.length);
    return { body: JSON.stringify({ data: { consents: page.map(consentOf), hasNext, count: 3 } }) };
  });
  const read = async () => {
    const ids: string[] = [];
    for await (const { id } of iterateConsents(connection, 'task-token')) ids.push(id);
    return ids;
  };
  return { consents: read(), calls };
};

test.each([
  ['empty', [[]], 1],
  ['the same again', [['a', 'b']], 2],
  ['those of two pages in turn', [['a'], ['b']], 3],
])('pages of consents that are %s and still promise more do not go on for ever', async (_, pages, asked) => {
  const { consents, calls } = listOf(pages);
  await expect(consents).rejects.toThrow('without a new consent');
  expect(calls).toHaveLength(asked);
});

test('a consent that moved to the next page comes once', async () => {
  const { consents } = listOf([['a', 'b'], ['b', 'c'], ['c']], true);
  expect(await consents).toEqual(['a', 'b', 'c']);
});
