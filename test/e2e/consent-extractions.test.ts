import { describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { authorized, consentRequest } from './support/authorized-consents.ts';
import { callConsents, openSession, revokedStatuses } from './support/call-consents.ts';
import { extract, provider, startCallsOf, view } from './support/call-extractions.ts';
import { historyOf, transitionsIn } from './support/execution.ts';
import { closed, inStatus, statusesOf } from './support/records.ts';
import { uniqueNationalId } from './support/searched-secrets.ts';

const variants = ['v1', 'v2'] as const;
type Variant = (typeof variants)[number];

const pollsOf = (taskId = '') => provider.calls({ taskId, method: 'GET' });

/** The statuses of the polls that the provider has answered. A busy machine may leave one unanswered. */
const answeredPollsOf = async (taskId: string) =>
  (await pollsOf(taskId)).map(({ status }) => status).filter((status) => typeof status === 'number');

describe('an extraction by consent', () => {
  const natural = { products: ['movement'] };
  const legal = () => ({ person: 'legal', products: ['movement'], user: { username: uniqueNationalId() } });

  test.for([
    ['natural', 'v1'],
    ['natural', 'v2'],
    ['legal', 'v1'],
    ['legal', 'v2'],
  ] as const)(
    'of a %s person in %s is polled until it is COMPLETED, in one state transition',
    async ([person, variant]) => {
      const target = uniqueNationalId();
      await provider.setPlan(target, { durationMs: null });
      const { consentId } = await openSession(target, person === 'natural' ? natural : legal());
      await provider.authorizeConsent(consentId);
      const extractionId = await extract(
        consentRequest({ target, consentId }, { variant, reference: 'invoice 42' }),
      );

      const { taskId = '' } = await inStatus(extractionId, 'RUNNING');
      await eventually(async () => expect((await answeredPollsOf(taskId)).length).toBeGreaterThanOrEqual(3));
      await provider.finishPolled(taskId);
      const record = await closed(extractionId);
      expect(record).toMatchObject({
        method: 'consent',
        product: 'movement',
        consentId,
        variant,
        reference: 'invoice 42',
        status: 'COMPLETED',
        settledBy: 'reconcile',
      });
      expect(record).not.toHaveProperty('actionResults');
      expect(statusesOf(extractionId)).toEqual(['REQUESTED', 'STARTING', 'RUNNING', 'COMPLETED']);
      const { results } = await view(extractionId);
      const text = await (await fetch(results?.url ?? '')).text();
      expect(Buffer.byteLength(text)).toBe(record.results?.bytes);
      const data = expect.arrayContaining([expect.objectContaining({ currency: 'CLP' })]);
      expect(JSON.parse(text)).toEqual(
        variant === 'v1' ? { taskStatus: 'success', taskStatusCode: 200, results: data } : { data },
      );

      const polls = await answeredPollsOf(taskId);
      const inProgress = polls.slice(0, polls.indexOf(200));
      expect(inProgress.length).toBeGreaterThanOrEqual(3);
      expect(inProgress).toEqual(inProgress.map(() => 202));

      const history = await historyOf(extractionId);
      expect(history.at(-1)?.type).toBe('ExecutionSucceeded');
      expect(transitionsIn(history)).toBe(1);
    },
  );

  test('completes when its consent is revoked meanwhile, and the next one is REJECTED', async () => {
    const user = await authorized({ durationMs: null });
    const extractionId = await extract(consentRequest(user));
    const { taskId = '' } = await inStatus(extractionId, 'RUNNING');
    const revoked = await callConsents('POST', `/consents/${user.consentId}/revoke`, user.target);
    expect(revoked.status).toBeOneOf(revokedStatuses);

    await provider.finishPolled(taskId);
    expect(await closed(extractionId)).toMatchObject({ status: 'COMPLETED' });
    expect(await closed(await extract(consentRequest(user)))).toMatchObject({ status: 'REJECTED' });
  });
});

describe.each(variants)('in %s', (variant: Variant) => {
  test.for([
    ['with a type and a code', { status: 400, errorType: 'ENTITY', errorCode: 'DOWN' }, 'ENTITY/DOWN'],
    ['with a type alone', { status: 422, errorType: 'NO_DATA' }, 'NO_DATA'],
    ['with an undocumented type', { status: 422, errorType: 'Ana has no account' }, 'OTHER'],
  ] as const)(
    'a poll that is answered with a failure %s makes the extraction FAILED',
    async ([, failure, reason]) => {
      const extractionId = await extract(consentRequest(await authorized({ failure }), { variant }));

      const record = await closed(extractionId);
      expect(record).toMatchObject({ status: 'FAILED', reason, settledBy: 'reconcile' });
      expect(record.collectedAt).toBeDefined();
      expect(record.results).toBeUndefined();
    },
  );

  test('a poll whose answer has no task status is repeated', async () => {
    const user = await authorized({
      read: [
        { kind: 'answer', status: 503 },
        { kind: 'answer', status: 502, body: { errorType: 'GATEWAY' } },
        { kind: 'answer', status: 404, body: { message: 'not here' } },
        { kind: 'answer', status: 429, body: { errorType: 'LIMIT' } },
        { kind: 'answer', status: 200, body: '<html>' },
        { kind: 'reset' },
      ],
    });
    const record = await closed(await extract(consentRequest(user, { variant })));
    expect(record).toMatchObject({ status: 'COMPLETED' });
    expect((await pollsOf(record.taskId)).map(({ status }) => status).slice(0, 6)).toEqual([
      503,
      502,
      404,
      429,
      200,
      'none',
    ]);
  });

  test('an expired Task Token is replaced, at the start and at a poll', async () => {
    const user = await authorized({
      start: [{ kind: 'expire-session' }],
      read: [{ kind: 'expire-session' }],
    });
    const record = await closed(await extract(consentRequest(user, { variant })));
    expect(record).toMatchObject({ status: 'COMPLETED' });
    const [starts, polls] = [await startCallsOf(user.target), await pollsOf(record.taskId)];
    expect(starts).toMatchObject([{ status: 401 }, { status: 200 }]);
    expect(starts[0]?.bearer).not.toBe(starts[1]?.bearer);
    expect(polls[0]).toMatchObject({ status: 401 });
    expect(polls[1]?.bearer).not.toBe(polls[0]?.bearer);
    expect(await provider.polledTasks({ username: user.target })).toHaveLength(1);
  });

  /** The consent is read after each refusal. In v1, an answer is its status alone. */
  const reasonOf = (status: number, errorCode: string) => {
    if (errorCode === 'CONSENT_NOT_FOUND') return 'consent-unknown';
    if (errorCode === 'CONSENT_NOT_ACTIVE') return 'consent-revoked';
    return variant === 'v2' ? `CONSENT/${errorCode}` : `http-${status}`;
  };

  test.for([
    ['a consent that is not active', 403, 'CONSENT_NOT_ACTIVE'],
    ['a product that was not authorized', 403, 'PRODUCT_NOT_AUTHORIZED'],
    ["another user's consent", 404, 'CONSENT_NOT_FOUND'],
  ] as const)('a start under %s is REJECTED', async ([what, status, errorCode]) => {
    const user = await authorized();
    const used = { ...user };
    if (errorCode === 'CONSENT_NOT_ACTIVE')
      await provider.alterConsent(user.consentId, { subStatus: 'REVOKED' });
    if (errorCode === 'CONSENT_NOT_FOUND') used.target = uniqueNationalId();
    const product = what.startsWith('a product') ? 'debt' : 'movement';
    const extractionId = await extract(consentRequest(used, { variant, product }));

    expect(await closed(extractionId)).toMatchObject({
      status: 'REJECTED',
      reason: reasonOf(status, errorCode),
      settledBy: 'start',
    });
    expect(await startCallsOf(used.target)).toMatchObject([{ status }]);
    expect(await provider.polledTasks({ username: used.target })).toEqual([]);
  });
});
