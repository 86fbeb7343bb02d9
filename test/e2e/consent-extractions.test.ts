import { describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { authorized, consentRequest } from './support/authorized-consents.ts';
import { callConsents, openSession, revokedStatuses } from './support/call-consents.ts';
import { extract, provider, view } from './support/call-extractions.ts';
import { historyOf, transitionsIn } from './support/execution.ts';
import { closed, inStatus, statusesOf } from './support/records.ts';
import { uniqueNationalId } from './support/searched-secrets.ts';

const pollsOf = (taskId = '') => provider.calls({ taskId, method: 'GET' });

/** The statuses of the polls that the provider has answered. A busy machine may leave one unanswered. */
const answeredPollsOf = async (taskId: string) =>
  (await pollsOf(taskId)).map(({ status }) => status).filter((status) => typeof status === 'number');

describe('an extraction by consent', () => {
  const natural = { products: ['movement'] };
  const legal = () => ({ person: 'legal', products: ['movement'], user: { username: uniqueNationalId() } });

  test.for([
    ['natural', 'v1'],
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
