import { expect, inject, test } from 'vitest';
import { withDots } from '../../../sandbox/consents/national-id.ts';
import type { Plan } from '../../../sandbox/plan-schemas.ts';
import { authorized, consentRequest } from '../support/authorized-consents.ts';
import { callConsents, openSession, revokedStatuses } from '../support/call-consents.ts';
import {
  extract,
  extractWith,
  passwordSentinel,
  post,
  provider,
  requestFor,
  startCallsOf,
} from '../support/call-extractions.ts';
import { closed } from '../support/records.ts';
import { uniqueNationalId } from '../support/searched-secrets.ts';

// These tests put secrets where errors are likely to quote them. The search after the suite finds leaks.

const { markers } = inject('cosecha');

test('a provider echoes secrets in refusals, failures and unreadable answers', async () => {
  const echo = { echo: passwordSentinel, result: markers.result };
  const plans: readonly Plan[] = [
    { startForever: { kind: 'answer', status: 400, body: echo } },
    { startForever: { kind: 'accept-then-answer', status: 500, body: echo } },
    { startForever: { kind: 'accept-then-answer', status: 200, body: `<${passwordSentinel}` } },
    { start: [{ kind: 'answer', status: 429, body: echo, headers: { location: `/${passwordSentinel}` } }] },
    { read: [{ kind: 'answer', status: 200, body: `<${markers.result}` }] },
    { read: [{ kind: 'answer', status: 200, body: { taskStatus: markers.result, results: echo } }] },
    { read: [{ kind: 'answer', status: 500, body: echo }] },
    { webhook: { extraFields: { taskStatusText: markers.webhookField } } },
  ];
  const all = await Promise.all(plans.map((plan) => extractWith(plan)));
  const records = await Promise.all(all.map(({ extractionId }) => closed(extractionId)));
  expect(records.map(({ status }) => status)).toEqual([
    'REJECTED',
    'UNCONFIRMED',
    'UNCONFIRMED',
    ...Array.from({ length: 5 }, () => 'COMPLETED'),
  ]);
});

test.for([
  ['invalid JSON', `{"credentials": "${passwordSentinel}`],
  // The pointer has the field's name, not its value.
  ['an unknown field', requestFor('nobody', { secret: passwordSentinel })],
  ['credentials of the wrong type', { credentials: passwordSentinel, actions: passwordSentinel }],
  ['an unexpected session token', requestFor('nobody', { sessionToken: 'sandbox-session-mine' })],
] as const)('a request with %s is refused', async ([, body]) => {
  const answer = await post(body);
  expect(answer.status).toBe(400);
});

test('a verified delivery that cannot be read is refused', async () => {
  for (const raw of [
    `"${markers.webhookField}"`,
    markers.webhookField,
    `{"taskStatus":"${markers.webhookField}"}`,
  ]) {
    expect(await provider.deliver({ taskId: 'leak-check', taskStatus: 'COMPLETED', raw })).toMatchObject({
      status: 400,
    });
  }
});

test('extractions by consent fail, and a provider returns the target as an error code', async () => {
  const all = await Promise.all([
    authorized(),
    authorized({ startForever: { kind: 'answer', status: 400, body: { errorType: 'INVALID' } } }),
    authorized({ startForever: { kind: 'reset', taken: true } }),
    authorized({ read: [{ kind: 'answer', status: 503 }, { kind: 'reset' }, { kind: 'expire-session' }] }),
  ]);
  const echoing = await authorized();
  await provider.setPlan(echoing.target, {
    failure: { status: 422, errorType: echoing.target, errorCode: `RUT-${echoing.target}` },
  });
  const ids = await Promise.all(
    [...all, echoing].map((user) =>
      extract(consentRequest({ ...user, target: withDots(user.target) }, { variant: 'v2' })),
    ),
  );
  const records = await Promise.all(ids.map((id) => closed(id)));
  expect(records.map(({ status }) => status)).toEqual([
    'COMPLETED',
    'REJECTED',
    'UNCONFIRMED',
    'COMPLETED',
    'FAILED',
  ]);
  expect(await startCallsOf(echoing.target)).toHaveLength(1);
  expect((await post(`{"method":"consent","target":"${echoing.target}"`)).status).toBe(400);
});

test('consent requests succeed, and are refused', async () => {
  const [person, company] = [uniqueNationalId(), uniqueNationalId()];
  const email = `${markers.email}@example.com`;
  const products = ['movement'];
  const natural = await openSession(withDots(person), { products, user: { email } });
  const legal = await openSession(company, { person: 'legal', products, user: { username: person } });
  await provider.authorizeConsent(natural.consentId);
  const statuses: number[] = [];
  const call = async (...input: Parameters<typeof callConsents>) =>
    statuses.push((await callConsents(...input)).status);
  await call('GET', '/consents', person);
  await call('GET', `/consents/${natural.consentId}/pdf`, person);
  await call('POST', `/consents/${natural.consentId}/revoke`, person);
  // Another user's, no longer active, invalid, and no national id.
  await call('GET', `/consents/${legal.consentId}`, person);
  await call('POST', `/consents/${natural.consentId}/revoke`, person);
  await call('POST', '/consent-sessions', company, { products, user: { username: person } });
  await call('GET', '/consents', `${person}x`);
  expect(statuses).toEqual([200, 200, expect.toBeOneOf(revokedStatuses), 404, 409, 400, 400]);
});
