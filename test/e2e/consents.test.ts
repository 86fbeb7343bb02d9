import { randomUUID } from 'node:crypto';
import { describe, expect, inject, test } from 'vitest';
import type { Consent } from '#lib/provider/consents/get-consent.ts';
import { withDots } from '../../sandbox/consents/national-id.ts';
import { callConsents, openSession } from './support/call-consents.ts';
import { provider } from './support/call-extractions.ts';
import { uniqueNationalId } from './support/searched-secrets.ts';

const { markers, sandboxUrl } = inject('cosecha');

const consentOf = async (target: string, consentId: string): Promise<Consent> => {
  const answer = await callConsents('GET', `/consents/${consentId}`, target);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Consent;
};

/** An authorized consent of a new user. */
const newConsent = async (): Promise<{ readonly owner: string; readonly consentId: string }> => {
  const owner = uniqueNationalId();
  const { consentId } = await provider.createConsent({ owner, products: ['movement'] });
  return { owner, consentId };
};

const expectProblem = async (answer: Response, status: number, type: string): Promise<void> => {
  expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/problem+json']);
  expect(await answer.json()).toMatchObject({ type, status });
};

describe('a consent session', () => {
  test('of a natural person opens a widget, where the person authorizes the consent', async () => {
    const person = uniqueNationalId();
    const { otpToken, consentId } = await openSession(withDots(person), {
      products: ['movement', 'product-balance'],
      user: { email: `${markers.email}@example.com` },
      filters: { entities: { include: { types: ['bank'] } } },
      locale: 'en',
    });

    expect(await consentOf(person, consentId)).toMatchObject({ id: consentId, status: 'IN_PROGRESS' });
    const widget = await fetch(`${sandboxUrl}/widget?${new URLSearchParams({ otpToken })}`);
    expect([widget.status, await widget.text()]).toEqual([
      200,
      expect.stringContaining('Authorize access to your data'),
    ]);
    await provider.authorizeConsent(consentId, { products: ['movement'] });
    expect(await consentOf(person, consentId)).toMatchObject({
      status: 'ACTIVE',
      products: ['movement'],
      entity: { type: 'bank' },
    });
  });

  test('of a legal person belongs to the company in the header, not to the person who acts for it', async () => {
    const [company, person] = [uniqueNationalId(), uniqueNationalId()];
    const { consentId } = await openSession(company, {
      person: 'legal',
      products: ['tef'],
      user: { username: person },
    });
    expect(await consentOf(company, consentId)).toMatchObject({ products: ['tef'] });
    await expectProblem(
      await callConsents('GET', `/consents/${consentId}`, person),
      404,
      'urn:cosecha:problem:consent-not-found',
    );
  });
});

test("another user's consent is answered 404, as an unknown one is, and is not listed", async () => {
  const [mine, theirs] = await Promise.all([newConsent(), newConsent()]);
  for (const [method, what] of [
    ['GET', ''],
    ['GET', '/pdf'],
    ['POST', '/revoke'],
  ] as const) {
    const reached = await callConsents(method, `/consents/${theirs.consentId}${what}`, mine.owner);
    const absent = await callConsents(method, `/consents/${randomUUID()}${what}`, mine.owner);
    expect(await reached.clone().text()).toBe(await absent.text());
    await expectProblem(reached, 404, 'urn:cosecha:problem:consent-not-found');
  }
  expect(await consentOf(theirs.owner, theirs.consentId)).toMatchObject({ status: 'ACTIVE' });
  const listed = await callConsents('GET', '/consents', mine.owner);
  expect(await listed.json()).toMatchObject({ consents: [{ id: mine.consentId }], hasNext: false, count: 1 });
});
