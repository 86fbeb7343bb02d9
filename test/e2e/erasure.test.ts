import { randomUUID } from 'node:crypto';
import { expect, inject, test } from 'vitest';
import { dynamoErasureStore, tombstonesOf } from '#lib/aws/dynamo-erasure-store.ts';
import { sendEraseTo } from '#lib/aws/send-messages.ts';
import { decodeExtractionEvent } from '#lib/downstream/decode-extraction-event.ts';
import type { PublicErasure } from '#lib/extraction/api/public-view.ts';
import type { EraseMessage, Tombstone } from '#lib/extraction/erase/erasure.ts';
import { eventually } from '../support/eventually.ts';
import { authorized, consentRequest } from './support/authorized-consents.ts';
import { aws } from './support/aws.ts';
import { ageByAnHour } from './support/backdate.ts';
import {
  askToErase,
  callerArn,
  extract,
  extractWith,
  provider,
  readErasure,
  requestFor,
  uniqueUsername,
} from './support/call-extractions.ts';
import { closed, inStatus, readRecord, recordsOf, statusesOf } from './support/records.ts';
import { cosecha, factsOf } from './support/run-cosecha.ts';
import { quietlyRunning, running, taskItem, timedOut } from './support/running-extractions.ts';
import { sweepUntilClosed } from './support/sweep-until-closed.ts';

const { outputs } = inject('cosecha');
const table = outputs.ErasuresTableName ?? '';
const store = dynamoErasureStore(aws.dynamo, table);

/** Of each state. With ERASED_OF_EACH=34 there are 204, as in `.ci/run`: they take five minutes. */
const ofEach = Number(process.env.ERASED_OF_EACH ?? 3);
const times = <T>(make: () => Promise<T>): Promise<readonly T[]> =>
  Promise.all(Array.from({ length: ofEach }, make));

const send = sendEraseTo(aws.queues, outputs.EraseQueueUrl ?? '');
/** What the queue would deliver minutes later. */
const sendNow = (message: EraseMessage): Promise<void> => send(message, callerArn);

const found = async (erasureId: string): Promise<readonly Tombstone[]> => {
  const all: Tombstone[] = [];
  for await (const tombstone of tombstonesOf(aws.dynamo, table, erasureId)) all.push(tombstone);
  return all;
};

/** Lets the time of the last writer pass, and has the record erased. */
const eraseNow = async ({ erasureId, extractionId, requestId }: Tombstone): Promise<void> => {
  if ((await readRecord(extractionId)) !== undefined) await ageByAnHour(extractionId);
  await sendNow({ erase: { erasureId, extractionId, requestId } });
};

const idsOf = (all: readonly { readonly extractionId: string }[]): readonly string[] =>
  all.map(({ extractionId }) => extractionId);

const name =
  'extractions in all states are erased under one reference while they run, and nothing of them is left';
test(name, { timeout: ofEach * 100_000 }, async () => {
  const reference = randomUUID();
  const more = { reference };
  const request = () => requestFor(uniqueUsername(), more);
  const collected = await times(() => extract(request()));
  await Promise.all(collected.map(closed));
  const refused = await times(async () => {
    const { extractionId } = await extractWith({ outcome: 'CREDENTIALS_WRONG' }, more);
    await closed(extractionId);
    return extractionId;
  });
  const underWay = await times(() => running({}, more));
  const late = await times(async () => {
    const one = await quietlyRunning(more);
    await timedOut(one.extractionId);
    return one;
  });
  const consented = await times(async () =>
    extract(consentRequest(await authorized({ durationMs: null }), more)),
  );
  await Promise.all(consented.map((id) => inStatus(id, 'RUNNING')));
  // Last, as each is tried every second.
  const busy = await times(async () => {
    const plan = { startForever: { kind: 'answer', status: 429 } } as const;
    return (await extractWith(plan, more)).extractionId;
  });
  const all = [...collected, ...refused, ...busy, ...consented, ...idsOf(underWay), ...idsOf(late)];
  const ofAnother = await extract(request(), { caller: 'stranger' });

  const begin = ['erase', '--reference', reference, '--caller', callerArn, '--yes', '--no-wait', '--json'];
  const begun = await cosecha(begin);
  expect(begun).toMatchObject({ code: 0, stderr: '' });
  const { erasureId, askedAt } = factsOf(begun)[0] as {
    readonly erasureId: string;
    readonly askedAt: string;
  };
  // What was requested in the second in which it was asked is erased too: DynamoDB's clock shows whole seconds.
  await eventually(() => expect(new Date().toISOString() > askedAt).toBe(true));
  const later = await extract(request());
  await eventually(async () => expect(await found(erasureId)).toHaveLength(all.length));
  await sendNow({ search: { erasureId }, isLast: true });

  // What is not started ends at once, and grace too. What runs goes on, and its outcome comes.
  await Promise.all([...busy, ...idsOf(late)].map(closed));
  for (const { taskId } of underWay) await provider.finish(taskId);
  for (const id of consented) {
    await provider.finishPolled((await inStatus(id, 'RUNNING')).taskId ?? '');
    await sweepUntilClosed(id);
  }
  await Promise.all(idsOf(underWay).map(closed));
  for (const tombstone of await found(erasureId)) await eraseNow(tombstone);

  // Read in the table, because each run of the command starts a process.
  await eventually(async () => {
    const isErased = (await found(erasureId)).map(({ erasedAt }) => erasedAt !== undefined);
    expect([isErased.every(Boolean), await store.get(erasureId)]).toMatchObject([
      true,
      { searchedAt: expect.any(String) },
    ]);
  });
  const shown = factsOf(await cosecha(['erase', '--erasure', erasureId, '--no-wait', '--json']))[0];
  expect(shown).toMatchObject({ found: all.length, erased: all.length, isComplete: true });
  expect(JSON.stringify(shown)).not.toContain(reference);
  expect(await store.get(erasureId)).not.toHaveProperty('reference');
  // That nothing is left of them, the audit after the suite finds.
  for (const id of all) {
    await eventually(() =>
      expect(recordsOf(id).map((one) => decodeExtractionEvent(one).kind)).toContain('erased'),
    );
  }
  for (const id of busy) expect(statusesOf(id).slice(-2)).toEqual(['NOT_STARTED', 'removed']);
  for (const id of [...idsOf(underWay), ...consented])
    expect(statusesOf(id).slice(-2)).toEqual(['COMPLETED', 'removed']);

  // Its task ends now.
  for (const { taskId } of late) {
    await provider.finish(taskId);
    expect(await provider.deliverTask(taskId)).toMatchObject({ status: 204 });
    expect(await taskItem(taskId)).toEqual({ taskId, isErased: true, expiresAt: expect.any(Number) });
  }
  for (const id of [ofAnother, later]) {
    expect(await closed(id)).toMatchObject({ status: 'COMPLETED' });
    expect(await readRecord(id)).toMatchObject({ reference });
  }
});

test('a caller erases its own by the API: what is closed, what runs, and nothing of another caller', async () => {
  const more = { reference: randomUUID() };
  const [body, repeatable] = [requestFor(uniqueUsername(), more), { idempotencyKey: randomUUID() }];
  const collected = await extract(body, repeatable);
  await closed(collected);
  // What counts repeats goes too.
  expect(await extract(body, repeatable)).toBe(collected);
  const underWay = await running({}, more);
  const ofAnother = await extract(requestFor(uniqueUsername(), more), { caller: 'stranger' });

  const asked = await askToErase(more);
  const { erasureId, ...begun } = (await asked.json()) as PublicErasure;
  expect([asked.status, asked.headers.get('location')]).toEqual([202, `/erasures/${erasureId}`]);
  expect(begun).toMatchObject({ status: 'SEARCHING', found: 2, erased: 0, open: 2 });
  expect((await readErasure(erasureId, 'stranger')).status).toBe(404);
  expect((await askToErase({ extractionId: collected }, 'stranger')).status).toBe(404);

  await eventually(async () => expect(await found(erasureId)).toHaveLength(2));
  // At one time, also at another scope, of which one begins.
  const repeated = await Promise.all(Array.from({ length: 5 }, () => askToErase(more)));
  for (const one of repeated) expect(await one.json()).toMatchObject({ erasureId, found: 2 });
  const ofOne = await Promise.all(Array.from({ length: 5 }, () => askToErase({ extractionId: collected })));
  const ids = await Promise.all(ofOne.map(async (one) => ((await one.json()) as PublicErasure).erasureId));
  expect(new Set(ids).size).toBe(1);
  await sendNow({ search: { erasureId }, isLast: true });
  await provider.finish(underWay.taskId);
  await closed(underWay.extractionId);
  for (const tombstone of await found(erasureId)) await eraseNow(tombstone);
  await eventually(async () =>
    expect(await (await readErasure(erasureId)).json()).toMatchObject({
      status: 'ERASED',
      erasedAt: expect.any(String),
      found: 2,
      erased: 2,
      open: 0,
    }),
  );
  expect((await askToErase({ extractionId: collected })).status).toBe(404);
  expect(await closed(ofAnother)).toMatchObject({ status: 'COMPLETED' });
});
