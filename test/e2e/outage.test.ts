import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { backdate } from './support/backdate.ts';
import { authorized, consentRequest } from './support/consent-extractions.ts';
import { eventually } from './support/eventually.ts';
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
import { endWebhookWait } from './support/running.ts';
import { sweepUntilClosed } from './support/sweep.ts';

/** Long enough for requests, tries to start and reads to meet it; nothing depends on how many do. */
const outageSeconds = 20;

type Waiting = { readonly username: string; readonly extractionId: string };

const request = async (username: string, body: Body): Promise<Waiting> => ({
  username,
  extractionId: await extract(body, { idempotencyKey: randomUUID() }),
});

const ends = async ({ username, extractionId }: Waiting) => {
  const record = await sweepUntilClosed(extractionId);
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
    await endWebhookWait(all[1].extractionId);
    return all;
  };
  const requestBoth = async ([username, mine]: readonly [string, Awaited<ReturnType<typeof authorized>>]) =>
    Promise.all([request(username, requestFor(username)), request(mine.target, consentRequest(mine))]);
  const newUsers = async () => [uniqueUsername(), await authorized()] as const;

  const [early, late] = [await newUsers(), await newUsers()];
  const before = await startedBefore();
  await provider.goDown(outageSeconds);
  // Of these the start window ends during the outage.
  const tooEarly = await requestBoth(early);
  for (const { extractionId } of tooEarly) await backdate(extractionId, 'requestedAt');
  const soonEnough = await requestBoth(late);

  // Its webhook comes during the outage, in which nothing can be read.
  const settled = await recordWhere(
    before[0].extractionId,
    'settled',
    ({ settledAt }) => settledAt !== undefined,
  );
  expect(settled).toMatchObject({ status: 'COMPLETED', settledBy: 'webhook' });
  await eventually(() => provider.summary());

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
