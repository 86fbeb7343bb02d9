/** @module-tag slow */

import { expect, test } from 'vitest';
import { extract, plannedUsername, provider, requestFor, startCallsOf } from './support/call-extractions.ts';
import { closed } from './support/records.ts';

test('credentials that the bank refused are sent once, however often they are requested', async () => {
  const username = await plannedUsername({ outcome: 'CREDENTIALS_WRONG', durationMs: 0 });
  const request = async () => closed(await extract(requestFor(username)));
  expect(await request()).toMatchObject({ status: 'CREDENTIALS_WRONG' });
  const refused = { status: 'REJECTED', reason: 'credentials-refused-before', advice: 'ask-user' };
  for (let left = 3; left > 0; left -= 1) expect(await request()).toMatchObject(refused);
  expect(await startCallsOf(username)).toHaveLength(1);
  expect(await provider.tasks({ username })).toHaveLength(1);
});
