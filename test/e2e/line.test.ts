/** @module-tag slow */

import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { readPlaces } from '#lib/aws/dynamo-start-line.ts';
import { sendEraseTo } from '#lib/aws/send-messages.ts';
import { eventually } from '../support/eventually.ts';
import { aws } from './support/aws.ts';
import { ageByAnHour } from './support/backdate.ts';
import {
  callerArn,
  extract,
  extractWith,
  read,
  requestFor,
  startCallsOf,
  uniqueUsername,
  view,
} from './support/call-extractions.ts';
import { historyOf } from './support/execution.ts';
import { closed, readRecord } from './support/records.ts';
import { cosecha, factsOf } from './support/run-cosecha.ts';

const { outputs } = inject('cosecha');

const rate = async (...args: readonly string[]): Promise<Record<string, unknown> | undefined> => {
  const ran = await cosecha(['rate', ...args, '--json']);
  expect(ran.code, ran.stderr).toBe(0);
  return factsOf(ran)[0];
};

/** One start in 1,000 s, so that no slow machine sees another one. */
const perSecond = 0.001;
const everyMs = 1_000 / perSecond;

beforeAll(async () => {
  await rate(String(perSecond), '--reason', 'nobody is to be started by the clock');
});
afterAll(async () => {
  await rate('--clear');
});

const inLine = async (): Promise<readonly string[]> => {
  const { places } = await readPlaces(aws.dynamo, outputs.StartLineTableName ?? '');
  return places.map(({ extractionId }) => extractionId).toSorted();
};

const waitUntilInLine = (...ids: readonly string[]): Promise<void> =>
  eventually(async () => expect(await inLine()).toEqual(ids.toSorted()));

/** Raises the rate so far that one may go at once, instead of in 1,000 s, and returns which of these is started then. */
const nextStarted = async (waiting: readonly string[], raised: number): Promise<string | undefined> => {
  await rate(String(raised), '--reason', 'one more may go');
  return eventually(async () => {
    const records = await Promise.all(waiting.map(readRecord));
    const started = records.filter((record) => record?.status !== 'REQUESTED');
    expect(started).toHaveLength(1);
    return started[0]?.extractionId;
  });
};

const eraseNow = sendEraseTo(aws.queues, outputs.EraseQueueUrl ?? '');

test('what waits in line shows when it starts, goes by lanes, can be cancelled and erased, and none is lost', {
  timeout: 900_000,
}, async () => {
  // The rate lets one start go at once.
  const opener = await extract(requestFor(uniqueUsername()));
  expect(await closed(opener)).toMatchObject({ status: 'COMPLETED' });

  const inBackground = async (plan = {}) => extractWith(plan, { priority: 'background' });
  const first = await inBackground();
  const cancelled = await inBackground();
  const erased = await inBackground();
  const last = await inBackground({ start: [{ kind: 'answer', status: 429 }] });
  const single = await extractWith({});
  const idOf = ({ extractionId }: { readonly extractionId: string }): string => extractionId;
  const all = [first, cancelled, erased, last, single];
  await waitUntilInLine(...all.map(idOf));
  for (const { username } of all) expect(await startCallsOf(username)).toEqual([]);

  expect(await rate()).toMatchObject({ perSecond, from: 'hand', waiting: 5 });
  expect((await rate())?.lanes).toEqual(
    expect.arrayContaining([
      { caller: callerArn, priority: 'background', waiting: 4 },
      { caller: callerArn, priority: 'interactive', waiting: 1 },
    ]),
  );
  expect((await cosecha(['health'])).stderr).toContain('5 starts wait');

  // The single one is the second, as lanes go by turns. The last one is behind all of them.
  const expectStart = (id: string, place: number): Promise<void> =>
    eventually(async () => {
      const { status, expectedStartAt = '' } = await view(id);
      const inMs = Date.parse(expectedStartAt) - Date.now();
      expect([status, Math.ceil(inMs / everyMs)]).toEqual(['REQUESTED', place]);
    });
  await expectStart(single.extractionId, 2);
  await expectStart(last.extractionId, 5);
  const listed = factsOf(await cosecha(['list', '--open', '--json']));
  expect(listed).toContainEqual(
    expect.objectContaining({
      extractionId: last.extractionId,
      expectedStartAt: expect.any(String) as string,
    }),
  );

  const [story] = factsOf(await cosecha(['explain', last.extractionId, '--json']));
  expect(story?.headline).toContain('Waits in line for the rate of the provider since');

  const end = await cosecha(['cancel', cancelled.extractionId, '--yes', '--json']);
  expect(end.code, end.stderr).toBe(0);
  expect(await closed(cancelled.extractionId)).toMatchObject({
    status: 'NOT_STARTED',
    lastProblem: 'cancelled',
  });
  // Its execution waits no longer.
  expect((await historyOf(cancelled.extractionId)).at(-1)?.type).toBe('ExecutionSucceeded');

  const erasing = await cosecha(['erase', erased.extractionId, '--yes', '--no-wait', '--json']);
  expect(erasing.code, erasing.stderr).toBe(0);
  const { requestId } = await closed(erased.extractionId);
  expect((await historyOf(erased.extractionId)).at(-1)?.type).toBe('ExecutionSucceeded');
  await ageByAnHour(erased.extractionId);
  const erasureId = String(factsOf(erasing)[0]?.erasureId);
  await eraseNow({ erase: { erasureId, extractionId: erased.extractionId, requestId } }, 'an operator');
  await eventually(async () => expect((await read(erased.extractionId)).status).toBe(404));

  const waiting = [first, last, single].map(idOf);
  await waitUntilInLine(...waiting);
  await expectStart(last.extractionId, 3);

  // A time that was taken further ahead than two starts take at the new rate does not count: 333 s each, and then 100 s.
  const next = (await nextStarted(waiting, 0.003)) ?? '';
  const others = waiting.filter((id) => id !== next);
  const second = (await nextStarted(others, 0.01)) ?? '';
  expect([next, second].toSorted()).toEqual([idOf(first), idOf(single)].toSorted());
  expect(await startCallsOf(last.username)).toEqual([]);
  expect(await view(second)).not.toHaveProperty('expectedStartAt');

  // What the provider refuses comes back, and is started.
  await rate('5', '--reason', 'the provider takes more');
  for (const id of waiting) expect(await closed(id)).toMatchObject({ status: 'COMPLETED' });
  expect(await startCallsOf(last.username)).toMatchObject([{ status: 429 }, { status: 200 }]);
  for (const { username } of [cancelled, erased]) expect(await startCallsOf(username)).toEqual([]);
  expect(await rate()).toMatchObject({ waiting: 0 });
});
