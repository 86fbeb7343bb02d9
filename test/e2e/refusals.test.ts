/** @module-tag slow */

import { describe, expect, test } from 'vitest';
import {
  type Body,
  extract,
  plannedUsername,
  provider,
  requestFor,
  startCallsOf,
} from './support/call-extractions.ts';
import { closed } from './support/records.ts';

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
});
