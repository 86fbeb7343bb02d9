/** @module-tag slow */

import { describe, expect, test } from 'vitest';
import { moveTimes } from './support/backdate.ts';
import {
  type Body,
  extract,
  passwordSentinel,
  plannedUsername,
  provider,
  requestFor,
  startCallsOf,
} from './support/call-extractions.ts';
import { closed, recordWhere } from './support/records.ts';

const wrong = { outcome: 'CREDENTIALS_WRONG', durationMs: 0 } as const;
const refused = { status: 'REJECTED', reason: 'credentials-refused-before', advice: 'ask-user' };

/** Requests one extraction after the other, and returns how each ended. */
const outcomesOf = async (...requests: readonly Body[]) => {
  const ended: unknown[] = [];
  for (const request of requests) ended.push(await closed(await extract(request)));
  return ended;
};

describe('credentials that the bank refused', () => {
  test('are sent once, however often they are requested', async () => {
    const username = await plannedUsername(wrong);
    const request = requestFor(username);
    const [first, ...others] = await outcomesOf(request, request, request, request);
    expect(first).toMatchObject({ status: 'CREDENTIALS_WRONG' });
    expect(others).toMatchObject([refused, refused, refused]);
    expect(await startCallsOf(username)).toHaveLength(1);
    expect(await provider.tasks({ username })).toHaveLength(1);
  });

  test('are sent again if the user has confirmed them, and if the password has changed', async () => {
    const username = await plannedUsername(wrong);
    const request = requestFor(username);
    const confirmed = { ...request, confirmed: true };
    expect(await outcomesOf(request, confirmed, request)).toMatchObject([
      { status: 'CREDENTIALS_WRONG' },
      { status: 'CREDENTIALS_WRONG' },
      refused,
    ]);
    expect(await startCallsOf(username)).toHaveLength(2);

    const changed = { mode: 'raw', value: { username, password: `${passwordSentinel}-changed` } };
    expect(await outcomesOf({ ...request, credentials: changed })).toMatchObject([
      { status: 'CREDENTIALS_WRONG' },
    ]);
    expect(await startCallsOf(username)).toHaveLength(3);
  });

  test('are sent as before once confirmed ones were accepted', async () => {
    const username = await plannedUsername(wrong);
    const request = requestFor(username);
    expect(await outcomesOf(request)).toMatchObject([{ status: 'CREDENTIALS_WRONG' }]);
    await provider.setPlan(username, { outcome: 'COMPLETED' });
    expect(await outcomesOf(request, { ...request, confirmed: true }, request)).toMatchObject([
      refused,
      { status: 'COMPLETED' },
      { status: 'COMPLETED' },
    ]);
  });

  test('are not sent by a request that was held before the refusal', async () => {
    const busy = { kind: 'answer', status: 429, headers: { 'retry-after': '3600' } } as const;
    const username = await plannedUsername({ ...wrong, start: [busy] });
    const held = await extract(requestFor(username));
    await recordWhere(held, 'whose start is held', ({ notBefore }) => notBefore !== undefined);

    expect(await outcomesOf(requestFor(username))).toMatchObject([{ status: 'CREDENTIALS_WRONG' }]);
    await moveTimes(held, { notBefore: new Date(Date.now() - 1_000).toISOString() });
    expect(await closed(held)).toMatchObject(refused);
    expect(await startCallsOf(username)).toMatchObject([{ status: 429 }, { status: 200 }]);
  });
});
