import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { paginateListObjectsV2 } from '@aws-sdk/client-s3';
import { expect, inject, test } from 'vitest';
import type { Extraction } from '../../lib/extraction/record.ts';
import type { WebhookPlan } from '../sandbox/plan.ts';
import { TERMINAL_STATUSES, type TerminalStatus } from '../sandbox/task-vocabulary.ts';
import { aws } from './support/aws.ts';
import { extract, plannedUsername, provider, requestFor } from './support/extractions.ts';
import { cosecha, factsOf } from './support/operator.ts';
import { limitTo } from './support/pace.ts';
import { closed } from './support/records.ts';
import { endWebhookWait } from './support/running.ts';

const size = 150;

/**
 * From the request to the end, or to running where nobody will announce the end. The emulator gives every invocation
 * that finds no free process one of its own, of some 70 MB; more at once than this are no faster on 2 cores.
 */
const atOnce = limitTo(12);

/** A third each: never delivered; each attempt twice at a time, and again when it was long taken; as it should be. */
const webhooks: readonly WebhookPlan[] = [
  { enabled: false },
  { duplicate: 1, keepRetryingAfterSuccess: true, scheduleMs: [0, 1_000] },
  {},
];

type One = { readonly username: string; readonly extractionId: string; readonly outcome: TerminalStatus };

const requestOne = async (index: number): Promise<One> => {
  const outcome = TERMINAL_STATUSES[index % TERMINAL_STATUSES.length] ?? 'COMPLETED';
  const webhook = webhooks[index % webhooks.length] ?? {};
  // Those that start later end earlier, so that deliveries overtake each other.
  const durationMs = 1_200 - 100 * (index % 12);
  const username = await plannedUsername({ outcome, durationMs, webhook });
  const idempotencyKey = randomUUID();
  // Every tenth caller asks twice at the same time.
  const askers = index % 10 === 0 ? 2 : 1;
  const ids = await Promise.all(
    Array.from({ length: askers }, () => extract(requestFor(username), { idempotencyKey })),
  );
  const [extractionId = ''] = ids;
  expect(new Set(ids).size).toBe(1);
  await (webhook.enabled === false ? endWebhookWait(extractionId) : closed(extractionId));
  return { username, extractionId, outcome };
};

const countsOf = (values: readonly string[]): Record<string, number> =>
  Object.fromEntries(
    [...new Set(values)].sort().map((value) => [value, values.filter((other) => other === value).length]),
  );

const storedKeys = async (): Promise<ReadonlySet<string>> => {
  const keys = new Set<string>();
  const Bucket = inject('cosecha').outputs.ResultsBucketName;
  for await (const { Contents = [] } of paginateListObjectsV2({ client: aws.s3 }, { Bucket })) {
    for (const { Key = '' } of Contents) keys.add(Key);
  }
  return keys;
};

/** Sweeps all that is due, again and again, until the work is done. */
const sweepMeanwhile = async <T>(work: Promise<T>): Promise<T> => {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    const [swept] = factsOf(await cosecha(['reconcile', '--all-due', '--json']));
    expect(swept).toMatchObject({ claimed: expect.any(Number), failed: 0 });
    await Promise.race([done, delay(3_000)]);
  }
  return done;
};

test(`${size} extractions, a third unannounced and a third announced again and again, all end as the provider says`, async () => {
  const all = await sweepMeanwhile(
    (async () => {
      const ones = await Promise.all(
        Array.from({ length: size }, (_, index) => atOnce(() => requestOne(index))),
      );
      return Promise.all(ones.map(async (one) => ({ ...one, record: await closed(one.extractionId) })));
    })(),
  );

  // What we say of each is what was planned, and in sum what the provider says.
  const wrong = all.filter(({ record, outcome }) => record.status !== outcome);
  expect(wrong.map(({ extractionId }) => extractionId)).toEqual([]);
  const usernames = new Set(all.map(({ username }) => username));
  const tasks = (await provider.tasks()).filter(({ username }) => usernames.has(username));
  const records: readonly Extraction[] = all.map(({ record }) => record);
  expect(countsOf(records.map(({ status }) => status))).toEqual(
    countsOf(tasks.map(({ taskStatus }) => taskStatus)),
  );

  // One start call each, taken or not, and one task.
  const starts = (await provider.calls({ path: '/api/v2/tasks', method: 'POST' })).filter(
    ({ username = '' }) => usernames.has(username),
  );
  expect(starts.length).toBe(size);
  expect(new Set(starts.map(({ username }) => username)).size).toBe(size);
  expect(new Set(tasks.map(({ taskId }) => taskId))).toEqual(new Set(records.map(({ taskId }) => taskId)));

  // Every result there is was collected, and is in the bucket.
  expect(records.filter(({ collectedAt }) => collectedAt === undefined)).toEqual([]);
  const withResults = records.filter(({ status }) => !status.startsWith('CREDENTIALS_'));
  const keys = await storedKeys();
  expect(withResults.filter(({ results }) => !keys.has(results?.key ?? ''))).toEqual([]);

  const settledBy = countsOf(records.map((record) => record.settledBy ?? ''));
  // The third that was never announced is settled by the poll; on a busy machine some others may be.
  expect(settledBy.reconcile).toBeGreaterThanOrEqual(size / webhooks.length);
  expect(settledBy.webhook).toBeGreaterThan(0);
  const deliveries = tasks.flatMap((task) => task.deliveries);
  console.info(
    [
      `The burst: ${JSON.stringify(countsOf(records.map(({ status }) => status)))}`,
      `settled by ${JSON.stringify(settledBy)}`,
      `${deliveries.filter(({ error }) => error === 'dropped').length} deliveries dropped`,
      `${deliveries.filter(({ status }) => status !== undefined).length} answered`,
    ].join(', '),
  );
});
