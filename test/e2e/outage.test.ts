import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { authorized, consentRequest } from './support/consent-extractions.ts';
import {
  type Body,
  extract,
  plannedUsername,
  provider,
  requestFor,
  startCallsOf,
  uniqueUsername,
  view,
} from './support/extractions.ts';
import { inStatus, recordWhere } from './support/records.ts';
import { sweepUntilClosed } from './support/sweep.ts';

/** Longer than the start window of 20 s, shorter than the deadline of 40 s (test/e2e/deployment.ts). */
const outageSeconds = 24;

type Waiting = { readonly username: string; readonly extractionId: string };

const request = async (username: string, body: Body): Promise<Waiting> => ({
  username,
  extractionId: await extract(body, { idempotencyKey: randomUUID() }),
});

const ends = async ({ username, extractionId }: Waiting) => {
  const record = await sweepUntilClosed(extractionId, 90_000);
  return { record, starts: await startCallsOf(username) };
};

test(`while the provider is down for ${outageSeconds} s nothing is lost, and after it everything settles`, async () => {
  const startedBefore = async () => {
    const mine = await authorized({ durationMs: 3_000 });
    const [announced, unannounced] = await Promise.all([
      plannedUsername({ durationMs: 3_000 }),
      plannedUsername({ durationMs: 3_000, webhook: { enabled: false } }),
    ]);
    const all = await Promise.all([
      request(announced, requestFor(announced)),
      request(unannounced, requestFor(unannounced)),
      request(mine.target, consentRequest(mine)),
    ]);
    await Promise.all(all.map(({ extractionId }) => inStatus(extractionId, 'RUNNING')));
    return all;
  };
  const requestBoth = async ([username, mine]: readonly [string, Awaited<ReturnType<typeof authorized>>]) =>
    Promise.all([request(username, requestFor(username)), request(mine.target, consentRequest(mine))]);
  const newUsers = async () => [uniqueUsername(), await authorized()] as const;

  const [early, late] = [await newUsers(), await newUsers()];
  const before = await startedBefore();
  const down = Date.now();
  await provider.goDown(outageSeconds);
  const tooEarly = await requestBoth(early);
  // What is asked for in its second half can still be started after it.
  await delay(down + 0.5 * outageSeconds * 1_000 - Date.now());
  const soonEnough = await requestBoth(late);

  // Told by its webhook meanwhile, though nothing could be read.
  const told = await recordWhere(
    before[0].extractionId,
    'settled',
    ({ settledAt }) => settledAt !== undefined,
  );
  expect(told).toMatchObject({ status: 'COMPLETED', settledBy: 'webhook' });
  expect(told.collectedAt).toBeUndefined();
  await delay(Math.max(0, down + (outageSeconds + 0.5) * 1_000 - Date.now()));
  await expect.poll(() => provider.summary().catch(() => undefined), { timeout: 10_000 }).toBeDefined();

  for (const one of [...before, ...soonEnough]) {
    const { record, starts } = await ends(one);
    expect(record).toMatchObject({ status: 'COMPLETED' });
    expect(starts).toMatchObject([{ status: 200 }]);
    expect((await view(one.extractionId)).results?.bytes).toBeGreaterThan(0);
  }
  for (const one of tooEarly) {
    const { record, starts } = await ends(one);
    expect(record).toMatchObject({ status: 'NOT_STARTED' });
    expect(starts).toEqual([]);
  }
});
