import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { backdate } from './support/backdate.ts';
import { type Authorized, authorized, consentRequest } from './support/consent-extractions.ts';
import { eventually } from './support/eventually.ts';
import {
  type Body,
  extract,
  plannedUsername,
  possiblyAcceptedStartsOf,
  provider,
  requestFor,
  uniqueUsername,
  view,
} from './support/extractions.ts';
import { inStatus, recordWhere } from './support/records.ts';
import { endWebhookWait, running } from './support/running.ts';
import { sweepUntilClosed } from './support/sweep.ts';

/** Long enough for requests, starts and reads to fail. No assertion depends on how many do. */
const outageSeconds = 20;

type Requested = { readonly username: string; readonly extractionId: string };

const request = async (username: string, body: Body): Promise<Requested> => ({
  username,
  extractionId: await extract(body, { idempotencyKey: randomUUID() }),
});

const requestBoth = ([username, mine]: readonly [string, Authorized]) =>
  Promise.all([request(username, requestFor(username)), request(mine.target, consentRequest(mine))]);

const finalState = async ({ username, extractionId }: Requested) => ({
  record: await sweepUntilClosed(extractionId),
  starts: await possiblyAcceptedStartsOf(username),
});

/** Three running extractions: one with a webhook, one without, one by consent. */
const startThree = async () => {
  const mine = await authorized({ durationMs: 3_000 });
  const [withWebhook, withoutWebhook] = await Promise.all([
    plannedUsername({ durationMs: null, webhook: { scheduleMs: [3_000, 6_000, 12_000, 24_000, 60_000] } }),
    plannedUsername({ durationMs: 3_000, webhook: { enabled: false } }),
  ]);
  const [{ extractionId, taskId }, ...others] = await Promise.all([
    running(withWebhook),
    request(withoutWebhook, requestFor(withoutWebhook)),
    request(mine.target, consentRequest(mine)),
  ]);
  await Promise.all(others.map((one) => inStatus(one.extractionId, 'RUNNING')));
  await endWebhookWait(others[0].extractionId);
  return { linked: { username: withWebhook, extractionId, taskId }, others };
};

test(`a provider outage of ${outageSeconds} s loses no extraction, and all of them settle after it`, async () => {
  // These are refused even if a slow machine starts them after the outage: their start window ends unused.
  const refused = { startForever: { kind: 'answer', status: 429 } } as const;
  const early = [await plannedUsername(refused), await authorized(refused)] as const;
  const late = [uniqueUsername(), await authorized()] as const;
  const { linked, others } = await startThree();
  // Ended now, delivered during the outage, in which nothing can be read.
  await provider.finish(linked.taskId);
  await provider.goDown(outageSeconds);
  // Until the provider refuses connections. A machine that hangs for the whole outage may miss that.
  const isDown = () => expect(provider.summary()).rejects.toThrow();
  await vi.waitFor(isDown, { timeout: outageSeconds * 1_000 }).catch(() => undefined);
  const withEndedWindow = await requestBoth(early);
  for (const { extractionId } of withEndedWindow) await backdate(extractionId, 'requestedAt');
  const withOpenWindow = await requestBoth(late);

  const settled = await recordWhere(
    linked.extractionId,
    'settled',
    ({ settledAt }) => settledAt !== undefined,
  );
  expect(settled).toMatchObject({ status: 'COMPLETED', settledBy: 'webhook' });
  await eventually(() => provider.summary());

  for (const one of [linked, ...others, ...withOpenWindow]) {
    const { record, starts } = await finalState(one);
    expect(record).toMatchObject({ status: 'COMPLETED' });
    expect(starts).toMatchObject([{ status: 200 }]);
    expect((await view(one.extractionId)).results?.bytes).toBeGreaterThan(0);
  }
  for (const one of withEndedWindow) {
    const { record, starts } = await finalState(one);
    expect(record).toMatchObject({ status: 'NOT_STARTED' });
    expect(starts).toEqual([]);
  }
});
