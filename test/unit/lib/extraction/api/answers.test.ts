import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { beforeEach, describe, expect, test } from 'vitest';
import { answerConsentRequest, type ConsentDeps } from '#lib/consents/answer-consent-request.ts';
import { type AnswerErasureDeps, answerErasure } from '#lib/extraction/api/answer-erasure.ts';
import { type AnswerFindDeps, answerFind } from '#lib/extraction/api/answer-find.ts';
import { type AnswerReadDeps, answerRead, availableResults } from '#lib/extraction/api/answer-read.ts';
import { type AnswerRequestDeps, answerRequest } from '#lib/extraction/api/answer-request.ts';
import { type AnswerSummaryDeps, answerSummary } from '#lib/extraction/api/answer-summary.ts';
import { extractionIdOf } from '#lib/extraction/api/idempotency.ts';
import { extractionRequestParser } from '#lib/extraction/api/parse-request.ts';
import type { PublicExtraction } from '#lib/extraction/api/public-view.ts';
import type { CredentialsExtraction } from '#lib/extraction/record.ts';
import type { CallerContext } from '#lib/http/caller-and-trace.ts';
import { at, closedExtraction, id, iso } from '../../../../support/data/extraction-fixtures.ts';
import { memoryTelemetry } from '../../../../support/data/memory-telemetry.ts';
import { extractionInMemory } from '../../../../support/stores/extraction-in-memory.ts';
import {
  memoryExtractionStore,
  memoryNameIndex,
} from '../../../../support/stores/memory-extraction-store.ts';
import { memoryRepeatCounter } from '../../../../support/stores/memory-repeat-counter.ts';

const roleOf = (name: string): string => `arn:aws:sts::111122223333:assumed-role/${name}`;
const [owner, reader, stranger] = [roleOf('Owner'), roleOf('Reader'), roleOf('Stranger')];
const contextOf = (role: string) => ({ authorizer: { iam: { userArn: `${role}/session` } } });

const userArn = 'arn:aws:sts::111122223333:federated-user/tenant-1';
const federated: CallerContext = { authorizer: { iam: { userArn } } };

test.each<[string, (requestContext: CallerContext) => Promise<APIGatewayProxyStructuredResultV2>]>([
  ['find', (requestContext) => answerFind({ requestContext }, {} as AnswerFindDeps)],
  ['summary', (requestContext) => answerSummary({ requestContext }, {} as AnswerSummaryDeps)],
  ['read', (requestContext) => answerRead({ requestContext }, {} as AnswerReadDeps)],
  ['request', (requestContext) => answerRequest({ requestContext, headers: {} }, {} as AnswerRequestDeps)],
  [
    'POST /erasures',
    (requestContext) =>
      answerErasure({ routeKey: 'POST /erasures', requestContext }, {} as AnswerErasureDeps),
  ],
  [
    'GET /consents',
    (requestContext) =>
      answerConsentRequest({ routeKey: 'GET /consents', requestContext, headers: {} }, {} as ConsentDeps),
  ],
])(
  'without a caller, and for one whose name anybody can choose, %s touches nothing',
  async (_what, answer) => {
    expect((await answer({})).statusCode).toBe(401);
    const refused = await answer(federated);
    expect(refused.statusCode).toBe(403);
    expect(JSON.parse(refused.body ?? '')).toMatchObject({
      type: 'urn:cosecha:problem:caller-not-supported',
      detail: expect.stringContaining('Sign with a role or an IAM user.'),
    });
  },
);

const store = memoryExtractionStore();
const idOf = (number: number): string => `0190a0b0-0000-7000-8000-${String(number).padStart(12, '0')}`;

/** The extractions with these numbers, each requested in its second. */
const given = (
  requestedBy: string,
  named: string | Partial<CredentialsExtraction>,
  ...numbers: readonly number[]
): void => {
  const fields = typeof named === 'string' ? { reference: named } : named;
  for (const number of numbers) {
    const extractionId = idOf(number);
    const requestedAt = iso(number);
    store.items.set(extractionId, {
      ...closedExtraction({ status: 'COMPLETED', extractionId, requestedAt, requestedBy }),
      ...fields,
    });
  }
};

beforeEach(() => store.items.clear());

const find = async (
  queryStringParameters: Readonly<Record<string, string>>,
  { role = owner, ...deps }: Partial<AnswerFindDeps> & { role?: string } = {},
) => {
  const answer = await answerFind(
    { queryStringParameters, requestContext: contextOf(role) },
    {
      extractions: store,
      index: memoryNameIndex(store.items),
      readers: new Set([reader]),
      telemetry: memoryTelemetry().telemetry,
      ...deps,
    },
  );
  const body = JSON.parse(answer.body ?? '') as {
    extractions?: readonly PublicExtraction[];
    cursor?: string;
    detail?: string;
  };
  const numbers = body.extractions?.map(({ extractionId }) => Number(extractionId.slice(-12)));
  return { status: answer.statusCode, headers: answer.headers, body, numbers, cursor: body.cursor };
};

/** The numbers on every page, from the first to the last. */
const pages = async (query: Readonly<Record<string, string>>, more: Parameters<typeof find>[1] = {}) => {
  const all: (readonly number[] | undefined)[] = [];
  let cursor: string | undefined;
  do {
    const page = await find({ ...query, ...(cursor === undefined ? {} : { cursor }) }, more);
    all.push(page.numbers);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return all;
};

describe('extractions with a reference', () => {
  test.each(['NFC', 'NFD'])(
    'are found in both forms of Unicode by that in %s, page by page',
    async (form) => {
      given(owner, 'Ñuñoa'.normalize('NFC'), 1, 3);
      given(owner, 'Ñuñoa'.normalize('NFD'), 2, 4);
      const found = await pages({ reference: 'Ñuñoa'.normalize(form), limit: '1' });
      expect(found.flat().toSorted()).toEqual([1, 2, 3, 4]);
    },
  );

  test('are found by their caller and by readers, the newest first, without internal attributes', async () => {
    given(owner, 'order 7', 1, 3);
    given(stranger, 'order 7', 2);
    given(owner, 'order 8', 4);
    expect((await find({ reference: 'order 7' })).numbers).toEqual([3, 1]);
    const { numbers, body, headers } = await find({ reference: 'order 7' }, { role: reader });
    expect(numbers).toEqual([2, 3, 1]);
    expect(headers).toEqual({ 'content-type': 'application/json', 'cache-control': 'no-store' });
    expect(body.extractions?.[1]).toMatchObject({ status: 'COMPLETED', requestedBy: owner });
    expect(body.extractions?.[0]).not.toHaveProperty('fingerprint');
    expect((await find({ reference: 'order' })).body).toEqual({ extractions: [] });
  });

  test('come page by page, and of all callers one caller after the other', async () => {
    given(stranger, 'r', 2, 3, 4, 6, 7, 9);
    given(owner, 'r', 1, 5, 8);
    expect(await pages({ reference: 'r', limit: '2' })).toEqual([[8, 5], [1]]);
    expect(await pages({ reference: 'r', limit: '3' })).toEqual([[8, 5, 1]]);
    const all = await pages({ reference: 'r', limit: '4' }, { role: reader });
    expect(all).toEqual([[9, 7, 6, 4], [3, 2, 8, 5], [1]]);
  });

  test('are twenty a page, and at most fifty', async () => {
    given(owner, 'r', ...Array.from({ length: 60 }, (_, number) => number));
    expect((await pages({ reference: 'r' })).map((page) => page?.length)).toEqual([20, 20, 20]);
    expect((await pages({ reference: 'r', limit: '50' })).map((page) => page?.length)).toEqual([50, 10]);
  });

  test('are not found once their record is gone or another, although the index still has them', async () => {
    given(owner, 'r', 1, 2, 3, 4);
    const stale = memoryNameIndex(new Map(store.items));
    store.items.delete(idOf(4));
    given(owner, 'another', 3);
    given(stranger, 'r', 2);
    expect(await pages({ reference: 'r', limit: '1' }, { index: stale })).toEqual([[1]]);
  });

  test('take one query, which reads nothing of others, however often they used the reference', async () => {
    given(stranger, 'r', ...Array.from({ length: 60 }, (_, number) => 100 + number));
    given(owner, 'r', 1);
    const index = memoryNameIndex(store.items);
    const asked: unknown[] = [];
    const find20 = find(
      { reference: 'r' },
      {
        index: {
          find: async (query) => {
            const page = await index.find(query);
            asked.push(page.entries.map(({ requestedBy }) => requestedBy));
            return page;
          },
        },
      },
    );
    expect(await find20).toMatchObject({ numbers: [1], cursor: undefined });
    expect(asked).toEqual([[owner]]);
  });
});

test.each([
  ['an unknown id', idOf(99)],
  ["another caller's extraction", idOf(2)],
  ['an extraction with another reference', idOf(4)],
  ['an empty text', ''],
])('a cursor that is %s is refused, with one answer for each', async (_what, cursor) => {
  given(owner, 'r', 1);
  given(stranger, 'r', 2);
  given(owner, 'another', 4);
  expect(await find({ reference: 'r', cursor })).toMatchObject({
    status: 400,
    body: { detail: 'The query parameter cursor is not of this list. Begin again without it.' },
  });
});

test.each([
  [{}, 'reference'],
  [{ batch: '' }, 'batch'],
  [{ reference: 'r', batch: 'b' }, 'batch'],
  [{ reference: '' }, 'reference'],
  [{ reference: 'x'.repeat(257) }, 'reference'],
  [{ reference: 'a\nb' }, 'reference'],
  [{ reference: 'r', limit: '0' }, 'limit'],
  [{ reference: 'r', limit: '51' }, 'limit'],
  [{ reference: 'r', limit: '1e1' }, 'limit'],
  [{ reference: 'r', status: 'COMPLETED' }, 'Only'],
])('the query %j is answered 400', async (query: Readonly<Record<string, string>>, named) => {
  const { status, body } = await find(query);
  expect(status).toBe(400);
  expect(body.detail).toContain(named);
});

test('extractions of a batch are found as those with a reference, and neither name is taken for the other', async () => {
  given(owner, { batch: 'b' }, 1, 3);
  given(stranger, { batch: 'b' }, 2);
  given(owner, { reference: 'b' }, 4);
  expect(await pages({ batch: 'b', limit: '1' })).toEqual([[3], [1]]);
  expect((await find({ batch: 'b' }, { role: reader })).numbers).toEqual([2, 3, 1]);
  expect((await find({ reference: 'b' })).numbers).toEqual([4]);
  expect((await find({ batch: 'b', cursor: idOf(4) })).status).toBe(400);
});

describe('the summary of a batch', () => {
  const summaryOf = async (
    queryStringParameters: Readonly<Record<string, string>>,
    role = owner,
    index = memoryNameIndex(store.items),
  ) => {
    const answer = await answerSummary(
      { queryStringParameters, requestContext: contextOf(role) },
      {
        index,
        readMany: async function* (ids) {
          for (const id of ids) {
            const record = store.items.get(id);
            if (record !== undefined) yield record;
          }
        },
        readers: new Set([reader]),
        telemetry: memoryTelemetry().telemetry,
      },
    );
    return { status: answer.statusCode, body: JSON.parse(answer.body ?? '') as Record<string, unknown> };
  };

  test('counts the caller’s own by status and advice, and readers’ of all callers', async () => {
    given(owner, { batch: 'b', advice: 'none' }, 1, 2, 3);
    given(owner, { batch: 'b', status: 'FAILED', advice: 'request-again' }, 4);
    given(owner, { batch: 'b', status: 'RUNNING', dueShard: 0, dueAt: iso(9) }, 5, 6);
    given(owner, { batch: 'another', advice: 'none' }, 7);
    given(stranger, { batch: 'b', advice: 'none' }, 8);
    const counts = [
      { status: 'COMPLETED', advice: 'none', extractions: 3 },
      { status: 'RUNNING', extractions: 2 },
      { status: 'FAILED', advice: 'request-again', extractions: 1 },
    ];
    const whole = { batch: 'b', isComplete: true };
    expect((await summaryOf({ batch: 'b' })).body).toEqual({ ...whole, extractions: 6, open: 2, counts });
    expect((await summaryOf({ batch: 'b' }, reader)).body).toMatchObject({ ...whole, extractions: 7 });
    const none = { batch: 'x', isComplete: true, extractions: 0, open: 0, counts: [] };
    expect((await summaryOf({ batch: 'x' })).body).toEqual(none);
  });

  test('leaves out records that are gone or another, although the index still has them', async () => {
    given(owner, { batch: 'b' }, 1, 2, 3);
    const stale = memoryNameIndex(new Map(store.items));
    store.items.delete(idOf(1));
    given(stranger, { batch: 'b' }, 2);
    expect((await summaryOf({ batch: 'b' }, owner, stale)).body).toMatchObject({ extractions: 1 });
  });

  test.each([
    [10_000, true],
    [10_001, false],
  ])('counts 10,000 at most: of %i it is complete: %s', async (number, isComplete) => {
    given(owner, { batch: 'b' }, ...Array.from({ length: number }, (_, index) => index));
    expect((await summaryOf({ batch: 'b' })).body).toMatchObject({ extractions: 10_000, isComplete });
  });

  test.each([{}, { batch: '' }, { batch: 'a\nb' }, { batch: 'x'.repeat(257) }, { batch: 'b', limit: '1' }])(
    'the query %j is answered 400',
    async (query: Readonly<Record<string, string>>) => {
      const { status, body } = await summaryOf(query);
      expect(status).toBe(400);
      expect(body.detail).toContain('batch');
    },
  );
});

// test/fuzz/intake reads as every caller: all others get the answer for an id that does not exist.
const results = { bucket: 'b', key: 'k', bytes: 1, sha256: 's' };
const collectedAt = '2026-01-01T00:00:00.000Z';

test('results are available until their retention is over', () => {
  const availableAt = (time: string) => availableResults({ results, collectedAt }, new Date(time), 30);
  expect(availableAt('2026-01-30T23:59:59.999Z')).toEqual(results);
  expect(availableAt('2026-01-31T00:00:00.000Z')).toBeUndefined();
});

test('a body of more than 64 KiB is too large', async () => {
  const event = { headers: {}, requestContext: contextOf(owner), body: 'x'.repeat(65_537) };
  const answer = await answerRequest(event, {} as AnswerRequestDeps);
  expect(answer.statusCode).toBe(413);
});

const bodyWith = (password: string) =>
  JSON.stringify({
    entity: 'bank',
    credentials: { mode: 'raw', value: { username: 'ana', password } },
    actions: [{ id: 'tef' }],
  });

/** What a request needs, over empty stores. */
const intakeInMemory = () => {
  const { deps: shared, seen } = extractionInMemory(undefined);
  const deps: AnswerRequestDeps = {
    ...shared,
    repeats: memoryRepeatCounter(),
    seal: async () => 'sealed',
    startExecution: async () => undefined,
    newRequestId: randomUUID,
    sendsWebhooks: true,
    newId: () => id,
    fingerprintKey: async () => 'key',
    assertConsentsSetUp: () => undefined,
    parseRequest: extractionRequestParser({}),
  };
  return { deps, seen };
};

test('a password cannot be guessed by repeating a request: eleven guesses, also at one time, block its key', async () => {
  const { deps } = intakeInMemory();
  const headers = { 'idempotency-key': 'order-2' };
  const send = (password: string) =>
    answerRequest({ headers, requestContext: contextOf(owner), body: bodyWith(password) }, deps);
  expect(await send('0007')).toMatchObject({ statusCode: 202 });
  // The same request counts for nothing, but while it is compared.
  for (let times = 0; times < 20; times += 1) expect((await send('0007')).statusCode).toBe(200);
  const same = await Promise.all(Array.from({ length: 11 }, () => send('0007')));
  expect(
    same.flatMap(({ statusCode, headers }) => (statusCode === 200 ? [] : headers?.['retry-after'])),
  ).toEqual(['1']);
  const guesses = Array.from({ length: 11 }, (_, guess) => `guess-${guess}`);
  const statuses = (await Promise.all(guesses.map(send))).map(({ statusCode }) => statusCode);
  expect(statuses.filter((status) => status === 429)).toHaveLength(1);
  const blocked = await send('0007');
  expect(blocked).toMatchObject({ statusCode: 429, headers: { 'retry-after': '3600' } });
  expect(JSON.parse(blocked.body ?? '')).toMatchObject({
    type: 'urn:cosecha:problem:idempotency-key-blocked',
  });
});

test('each line of a request has its id, entity and time, as the first may have failed once it was recorded', async () => {
  const { deps, seen } = intakeInMemory();
  const body = JSON.stringify({
    method: 'credentials',
    entity: 'bank',
    credentials: { mode: 'raw', value: { username: 'SENTINEL', password: 'SENTINEL' } },
    actions: [{ id: 'tef' }],
  });
  const event = { headers: { 'idempotency-key': 'order-1' }, requestContext: contextOf(owner), body };
  const startExecution = () => Promise.reject(new Error('Throttled.'));
  await expect(answerRequest(event, { ...deps, startExecution })).rejects.toThrow('Throttled.');
  expect(await answerRequest(event, { ...deps, now: () => at(60) })).toMatchObject({ statusCode: 200 });
  const requestedMs = deps.now().getTime();
  const extractionId = extractionIdOf(owner, 'order-1');
  expect(seen.progress).toEqual([
    [
      'Extraction requested.',
      { extractionId, outcome: 'replayed', caller: owner, entity: 'bank', requestedMs },
    ],
  ]);
});

test('only of what is requested, the answer has when its start is expected', async () => {
  given(`${owner}`, { status: 'REQUESTED' } as Partial<CredentialsExtraction>, 1);
  given(`${owner}`, {}, 2);
  const asked: string[] = [];
  const read = async (number: number): Promise<PublicExtraction> => {
    const answer = await answerRead(
      { pathParameters: { extractionId: idOf(number) }, requestContext: contextOf(owner) },
      {
        extractions: store,
        readers: new Set(),
        presign: async () => ({ url: '', expiresAt: '' }),
        estimateStart: async (extractionId) => {
          asked.push(extractionId);
          return iso(60);
        },
        now: () => new Date(iso(5)),
        retentionDays: 1,
        telemetry: memoryTelemetry().telemetry,
      },
    );
    return JSON.parse(answer.body ?? '') as PublicExtraction;
  };
  expect((await read(1)).expectedStartAt).toBe(iso(60));
  expect(await read(2)).not.toHaveProperty('expectedStartAt');
  expect(asked).toEqual([idOf(1)]);
});
