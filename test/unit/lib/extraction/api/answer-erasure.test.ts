import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { answerErasure } from '#lib/extraction/api/answer-erasure.ts';
import type { EraseMessage } from '#lib/extraction/erase/erasure.ts';
import { closedExtraction, id, iso } from '../../../../support/data/extraction-fixtures.ts';
import { memoryErasureStore } from '../../../../support/stores/memory-erasure-store.ts';

const role = 'arn:aws:sts::111122223333:assumed-role/Caller';
const stranger = 'arn:aws:sts::111122223333:assumed-role/Stranger';
const reference = 'person-11.111.111-1';

const erasing = () => {
  const store = memoryErasureStore();
  const sent: EraseMessage[] = [];
  const logs: unknown[] = [];
  const telemetry = { log: (...line: unknown[]) => void logs.push(line) };
  const record = { ...closedExtraction({ status: 'COMPLETED' }), requestedBy: role, reference };
  const clock = { seconds: 60, newest: record.requestedAt };
  const deps = {
    extractions: { get: async (asked: string) => (asked === id ? record : undefined) },
    index: {
      find: async ({
        name,
        requestedBy,
      }: {
        readonly name: string;
        readonly requestedBy?: string | undefined;
      }) => ({
        entries:
          name === reference && requestedBy === role
            ? [{ ...record, extractionId: id, requestedAt: clock.newest }]
            : [],
      }),
    },
    erasures: store,
    tombstones: async function* () {
      yield* store.items.tombstones.values();
    },
    send: async (message: EraseMessage) => void sent.push(message),
    fingerprintKey: async () => 'fingerprint-key',
    newId: randomUUID,
    now: () => new Date(iso(clock.seconds)),
    telemetry,
  };
  const call = async (routeKey: string, more: object, caller = role) => {
    const requestContext = { authorizer: { iam: { userArn: `${caller}/session` } } };
    const { statusCode, body = '' } = await answerErasure({ routeKey, ...more, requestContext }, deps);
    return { statusCode, body: JSON.parse(body) };
  };
  const post = (body: unknown, caller?: string) =>
    call('POST /erasures', { body: typeof body === 'string' ? body : JSON.stringify(body) }, caller);
  const get = (erasureId: string, caller?: string) =>
    call('GET /erasures/{erasureId}', { pathParameters: { erasureId } }, caller);
  return { post, get, sent, logs, store, clock };
};

test('an erasure by reference is recorded for the caller alone, queued, and its reference is in no log', async () => {
  const { post, sent, store, logs } = erasing();
  const { statusCode, body } = await post({ reference });
  expect(statusCode).toBe(202);
  expect(body).toMatchObject({ status: 'SEARCHING', askedAt: iso(60), found: 1, erased: 0, open: 1 });
  const { erasureId } = body;
  expect(sent).toEqual([{ search: { erasureId } }]);
  const asked = { erasureId, askedBy: role, requestedBy: role, askedAt: iso(60), reference };
  expect([...store.items.erasures.values()]).toEqual([{ ...asked, expiresAt: expect.any(Number) }]);
  expect(logs).toEqual([['Erasure requested.', { caller: role, erasureId, found: 1 }]]);
  expect(JSON.stringify(body)).not.toContain(reference);
});

test('an extraction that is not there and one of another caller have one answer, and nothing is written', async () => {
  const { post, sent, store } = erasing();
  const answers = [
    await post({ extractionId: id }, stranger),
    await post({ extractionId: randomUUID() }, stranger),
    await post({ extractionId: 'no id' }),
  ];
  expect(new Set(answers.map((one) => JSON.stringify(one))).size).toBe(1);
  expect(answers[0]).toMatchObject({ statusCode: 404, body: { type: 'urn:cosecha:problem:not-found' } });
  expect([sent, store.items.erasures.size]).toEqual([[], 0]);
});

test.each([
  '',
  '{',
  '[]',
  '{}',
  '{"reference":""}',
  '{"reference":"a","reference":"b"}',
  '{"reference":"a","more":1}',
])('a bad body changes nothing: %s', async (body) => {
  const { post, sent, store } = erasing();
  expect(await post(body)).toMatchObject({ statusCode: 400 });
  expect([sent, store.items.erasures.size]).toEqual([[], 0]);
});

test('a repeated request is answered with the open erasure, and queues nothing', async () => {
  const { post, sent, store, clock } = erasing();
  const first = await post({ reference });
  const { erasureId } = first.body;
  for (let time = 0; time < 20; time += 1)
    expect(await post({ reference })).toEqual({ ...first, body: { ...first.body, found: 0, open: 0 } });
  await store.bury({ erasureId, extractionId: id, requestId: 'request-1' });
  expect((await post({ reference })).body).toMatchObject({ erasureId, found: 1, open: 1 });
  expect([sent, store.items.erasures.size]).toEqual([[{ search: { erasureId } }], 1]);
  // The reference must not stay.
  expect(JSON.stringify([...store.items.scopes])).not.toContain(reference);
  clock.seconds = 100;
  expect((await post({ extractionId: id })).body.erasureId).not.toBe(erasureId);
});

test.each<[string, (its: ReturnType<typeof erasing>, erasureId: string) => unknown]>([
  [
    'a record is newer than what was asked',
    ({ clock }) => Object.assign(clock, { newest: iso(61), seconds: 62 }),
  ],
  ['it has ended', ({ store }, erasureId) => store.finishSearch(erasureId, iso(180), 1)],
  [
    'nobody has searched for it within a quarter of an hour',
    ({ clock }) => Object.assign(clock, { seconds: 961 }),
  ],
])('another erasure begins if %s', async (_what, change) => {
  const its = erasing();
  const { erasureId } = (await its.post({ reference })).body;
  await change(its, erasureId);
  const other = (await its.post({ reference })).body;
  expect([other.erasureId === erasureId, its.sent.length]).toEqual([false, 2]);
  expect((await its.post({ reference })).body.erasureId).toBe(other.erasureId);
});

test('of requests at one time, one begins and the others are answered with it', async () => {
  const { post, sent, store } = erasing();
  const answers = await Promise.all(Array.from({ length: 20 }, () => post({ reference })));
  expect(new Set(answers.map(({ body }) => body.erasureId)).size).toBe(1);
  expect([sent.length, store.items.erasures.size]).toEqual([1, 1]);
});

test('an erasure is shown as it goes on, to the caller that asked', async () => {
  const { post, get, store } = erasing();
  const { erasureId } = (await post({ reference })).body;
  const one = { erasureId, extractionId: id, requestId: 'request-1' };
  await store.bury(one);
  await store.bury({ ...one, requestId: 'request-2' });
  expect((await get(erasureId)).body).toMatchObject({ status: 'SEARCHING', found: 2, open: 2 });
  await store.finishSearch(erasureId, iso(180), 1);
  await store.setErased(one, iso(200), 1);
  expect((await get(erasureId)).body).toMatchObject({ status: 'ERASING', found: 2, erased: 1, open: 1 });
  await store.setErased({ ...one, requestId: 'request-2' }, iso(190), 1);
  expect((await get(erasureId)).body).toMatchObject({
    status: 'ERASED',
    erasedAt: iso(200),
    erased: 2,
    open: 0,
  });
  const absent = await get(randomUUID());
  expect(absent).toMatchObject({ statusCode: 404, body: { type: 'urn:cosecha:problem:erasure-not-found' } });
  expect(await get(erasureId, stranger)).toEqual(absent);
});
