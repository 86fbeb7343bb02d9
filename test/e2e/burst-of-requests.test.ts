import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Extraction } from '#lib/extraction/record.ts';
import type { WebhookPlan } from '../../sandbox/plan-schemas.ts';
import { TERMINAL_STATUSES, type TerminalStatus } from '../../sandbox/task-vocabulary.ts';
import { limitParallelCalls } from '../../tools/cli/operate/limit-parallel-calls.ts';
import { eventually } from '../support/eventually.ts';
import { extract, plannedUsername, provider, requestFor } from './support/call-extractions.ts';
import { closed } from './support/records.ts';
import { cosecha, factsOf } from './support/run-cosecha.ts';
import { endWebhookWait } from './support/running-extractions.ts';
import { sweepOnly } from './support/sweep-until-closed.ts';

const size = 75;

/** No other test has it, so that `health` shows the figures of these. */
const entity = 'burst-bank';

/**
 * How many requests are in progress at once, each until it is closed or, without webhook, until it runs. The emulator
 * starts a process of about 70 MB for every concurrent invocation, and more than this are not faster on 2 cores.
 */
const atOnce = limitParallelCalls(12);

/** One third each: without webhook; with every delivery sent twice and repeated after success; normal. */
const webhooks: readonly WebhookPlan[] = [
  { enabled: false },
  { duplicate: 1, keepRetryingAfterSuccess: true, scheduleMs: [0, 1_000] },
  {},
];

type Planned = { readonly username: string; readonly extractionId: string; readonly outcome: TerminalStatus };

const requestOne = async (index: number, requested: Set<string>): Promise<Planned> => {
  const outcome = TERMINAL_STATUSES[index % TERMINAL_STATUSES.length] ?? 'COMPLETED';
  const webhook = webhooks[index % webhooks.length] ?? {};
  // Later ones have shorter tasks, so that deliveries overtake each other.
  const durationMs = 1_200 - 100 * (index % 12);
  const username = await plannedUsername({ outcome, durationMs, webhook });
  const idempotencyKey = randomUUID();
  // Every tenth request is sent twice at the same time.
  const copies = index % 10 === 0 ? 2 : 1;
  const ids = await Promise.all(
    Array.from({ length: copies }, () => extract(requestFor(username, { entity }), { idempotencyKey })),
  );
  const [extractionId = ''] = ids;
  expect(new Set(ids).size).toBe(1);
  requested.add(extractionId);
  await (webhook.enabled === false ? endWebhookWait(extractionId) : closed(extractionId));
  return { username, extractionId, outcome };
};

const countsOf = (values: readonly string[]): Record<string, number> =>
  Object.fromEntries(
    [...new Set(values)].sort().map((value) => [value, values.filter((other) => other === value).length]),
  );

/** Sweeps these extractions, repeatedly, until the work is done, which needs no sweep. A failed reconcile is the next sweep's. */
const sweepMeanwhile = async <T>(extractionIds: ReadonlySet<string>, work: Promise<T>): Promise<T> => {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  while (!isDone) await Promise.race([done, sweepOnly(...extractionIds).then(() => delay(3_000))]);
  return done;
};

test(`records the provider's final status of ${size} concurrent extractions, a third without webhook and a third with repeated deliveries`, async () => {
  const requested = new Set<string>();
  const all = await sweepMeanwhile(
    requested,
    (async () => {
      const ones = await Promise.all(
        Array.from({ length: size }, (_, index) => atOnce(() => requestOne(index, requested))),
      );
      return Promise.all(ones.map(async (one) => ({ ...one, record: await closed(one.extractionId) })));
    })(),
  );

  // Each status is the planned one, and the counts are the provider's.
  const unexpected = all.filter(({ record, outcome }) => record.status !== outcome);
  expect(unexpected.map(({ extractionId }) => extractionId)).toEqual([]);
  const usernames = new Set(all.map(({ username }) => username));
  const tasks = (await provider.tasks()).filter(({ username }) => usernames.has(username));
  const records: readonly Extraction[] = all.map(({ record }) => record);
  expect(countsOf(records.map(({ status }) => status))).toEqual(
    countsOf(tasks.map(({ taskStatus }) => taskStatus)),
  );

  // One start call and one task for each.
  const starts = (await provider.calls({ path: '/api/v2/tasks', method: 'POST' })).filter(
    ({ username = '' }) => usernames.has(username),
  );
  expect(starts.length).toBe(size);
  expect(new Set(starts.map(({ username }) => username)).size).toBe(size);
  expect(new Set(tasks.map(({ taskId }) => taskId))).toEqual(new Set(records.map(({ taskId }) => taskId)));

  // The audit after the suite finds results that are not in the bucket as they were recorded.
  const lacks = ({ status, collectedAt, results }: Extraction): boolean =>
    collectedAt === undefined || (results === undefined && !status.startsWith('CREDENTIALS_'));
  expect(records.filter(lacks)).toEqual([]);

  // The outcomes are logged again by repeated deliveries and by sweeps.
  await eventually(async () => {
    const { stdout } = await cosecha(['health', '--json']);
    const [health] = factsOf({ stdout }).filter(({ subject }) => subject === entity);
    const completed = records.filter(({ status }) => status === 'COMPLETED').length;
    expect(health?.lastDay).toMatchObject({ requested: size, ended: size, well: completed });
  });

  const settledBy = countsOf(records.map((record) => record.settledBy ?? ''));
  // The poll settles the third without webhook. On a busy machine it may settle more.
  expect(settledBy.reconcile).toBeGreaterThanOrEqual(size / webhooks.length);
  expect(settledBy.webhook).toBeGreaterThan(0);
  const deliveries = tasks.flatMap((task) => task.deliveries);
  console.info(
    [
      `Burst: ${JSON.stringify(countsOf(records.map(({ status }) => status)))}`,
      `settled by ${JSON.stringify(settledBy)}`,
      `${deliveries.filter(({ error }) => error === 'dropped').length} deliveries dropped`,
      `${deliveries.filter(({ status }) => status !== undefined).length} answered`,
    ].join(', '),
  );
});
