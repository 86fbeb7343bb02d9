import type { _Record as SdkRecord } from '@aws-sdk/client-dynamodb-streams';
import type { DynamoDBRecord, EventBridgeEvent } from 'aws-lambda';
import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { decodeExtractionEvent } from '../../../../lib/downstream/decode-extraction-event.ts';
import { type Extraction, isTerminalStatus, terminalStatuses } from '../../../../lib/extraction/record.ts';
import {
  abandonOversized,
  type Change,
  closeAfterGrace,
  closeCollected,
  closeUncollected,
  correctOutcome,
  disownTask,
  markNotStarted,
  markRejected,
  markRunning,
  markRunningLate,
  markSettled,
  markStarting,
  markTimedOut,
  markUnconfirmed,
  rejectRefused,
  rememberOversized,
  reschedule,
  revertToRequested,
  timeOutOversized,
  transitions,
} from '../../../../lib/extraction/transitions.ts';
import { at, extraction, extractionIn, id, iso, timings } from '../../../support/data/extraction-fixtures.ts';
import { memoryExtractionStore } from '../../../support/stores/memory-extraction-store.ts';
import { streamRecord } from './stream-records.ts';

type Make = (record: Extraction, now: Date) => Change;

const isCollectable = (record: Extraction): boolean =>
  isTerminalStatus(record.status) && record.collectedAt === undefined;
const on = (record: Extraction, now: Date) => ({ record, now, timings });
const by = (record: Extraction, now: Date) => ({
  ...on(record, now),
  attemptId: record.attemptId ?? 'attempt-1',
});
const factOf = (record: Extraction, taskStatus: (typeof terminalStatuses)[number]) => ({
  extractionId: record.extractionId,
  taskId: record.taskId ?? 'none',
  taskStatus,
  reason: undefined,
  isOversized: false,
});
const results = { bucket: 'results', key: 'key', bytes: 2, sha256: 'a'.repeat(64) };

const taskId = 'task-1';
const isOpenForResults = (record: Extraction): boolean =>
  isCollectable(record) && record.collectionError === undefined;
const isTimedOut = ({ status }: Extraction): boolean => status === 'TIMED_OUT';
const isUnexplained = (record: Extraction): boolean =>
  isOpenForResults(record) || (isTimedOut(record) && record.collectionError === undefined);

/** Every write that the service makes, the kind of event that it is to a consumer, and the records that it is for. */
const writes: readonly (readonly [kind: string, make: Make, isFor?: (record: Extraction) => boolean])[] = [
  ['progressed', (record, now) => markStarting({ ...on(record, now), attemptId: 'attempt-1' })],
  ['progressed', (record, now) => revertToRequested({ ...by(record, now), notBefore: undefined })],
  ['progressed', (record, now) => markRunning({ ...by(record, now), taskId })],
  ['reopened', (record, now) => markRunningLate({ ...by(record, now), taskId })],
  ['settled', (record, now) => rejectRefused(on(record, now))],
  ['settled', (record, now) => markRejected({ ...by(record, now), reason: 'http-400' })],
  [
    'settled',
    (record, now) => markUnconfirmed({ ...by(record, now), reason: 'unknown', settledBy: 'start' }),
  ],
  ['settled', (record, now) => markNotStarted({ ...on(record, now), reason: 'start-abandoned' })],
  ['settled', (record, now) => markTimedOut(on(record, now))],
  ['settled', (record, now) => timeOutOversized(on(record, now))],
  [
    'settled',
    (record, now) => disownTask({ ...on(record, now), taskId: record.taskId ?? 'none', settledBy: 'start' }),
  ],
  ['housekeeping', (record, now) => rememberOversized({ record, now })],
  ...terminalStatuses.flatMap((status): readonly (readonly [string, Make])[] => {
    const reporting = (record: Extraction, now: Date) => ({ reported: factOf(record, status), now, timings });
    return [
      ['settled', (record, now) => markSettled({ ...reporting(record, now), settledBy: 'webhook' })],
      ['corrected', (record, now) => correctOutcome({ ...reporting(record, now), settledBy: 'reconcile' })],
    ];
  }),
  [
    'collected',
    (record, now) => closeCollected({ ...on(record, now), results, actionResults: undefined }),
    isCollectable,
  ],
  [
    'collected',
    (record, now) => closeCollected({ ...on(record, now), results: undefined, actionResults: undefined }),
    isCollectable,
  ],
  [
    'not-collected',
    (record, now) => closeUncollected({ ...on(record, now), collectionError: 'results-too-large' }),
    isOpenForResults,
  ],
  ['not-collected', (record, now) => abandonOversized(on(record, now)), isUnexplained],
  ['housekeeping', (record, now) => closeAfterGrace(on(record, now)), isTimedOut],
  ['housekeeping', (record, now) => reschedule({ record, dueAt: now.toISOString(), readsSlowly: false })],
];

describe('whatever the service writes, in whatever order', () => {
  test('is the event that the write stands for, and attributes nobody knows yet do not change it', async () => {
    const seen = new Map<string, number>();
    const pastMoves = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(1_000), { minLength: 5, maxLength: 20 }),
        fc.dictionary(
          fc.string().map((name) => `new-${name}`),
          fc.string(),
          { maxKeys: 3 },
        ),
        async (choices, unknown) => {
          const store = memoryExtractionStore();
          await store.create(extraction());
          let seconds = 1;
          for (const choice of choices) {
            const old = (await store.get(id)) ?? extraction();
            seconds += 1;
            const possible = writes.filter(
              ([, make, isFor]) =>
                (isFor?.(old) ?? true) &&
                make(old, at(seconds)).when.status?.some((status) => status === old.status) === true,
            );
            const write = possible[choice % possible.length];
            if (write === undefined) break;
            const [kind, make] = write;
            const result = await store.apply(make(old, at(seconds)));
            if (!result.applied) continue;
            const images = { old: { ...old, ...unknown }, new: { ...result.record, ...unknown } };
            const event = decodeExtractionEvent(streamRecord(images));
            expect(event).toMatchObject({ kind, extractionId: id, extraction: images.new });
            expect(event.kind).toBe(decodeExtractionEvent(streamRecord({ old, new: result.record })).kind);
            seen.set(kind, (seen.get(kind) ?? 0) + 1);
            pastMoves.add(`${old.status} ${result.record.status}`);
          }
        },
      ),
      { numRuns: 500, seed: 6 },
    );
    // The walk went everywhere: every kind that a write can have, and every move of the table.
    expect([...seen.keys()].toSorted()).toEqual([...new Set(writes.map(([kind]) => kind))].toSorted());
    const everyMove = Object.values(transitions).flatMap(({ from, to }) =>
      from.flatMap((one) => to.map((two) => `${one} ${two}`)),
    );
    expect([...pastMoves]).toEqual(expect.arrayContaining(everyMove));
  });

  test('an insert is a request, or a record that was put back', () => {
    expect(decodeExtractionEvent(streamRecord({ new: extraction() }))).toMatchObject({
      kind: 'requested',
      extraction: { requestedAt: iso(0), actions: [{ id: 'product-balance' }] },
    });
    const restored = extractionIn('COMPLETED', { collectedAt: iso(40) });
    expect(decodeExtractionEvent(streamRecord({ new: restored })).kind).toBe('restored');
  });

  test('a delete is an erasure, unless time to live did it', () => {
    const old = extractionIn('COMPLETED');
    expect(decodeExtractionEvent(streamRecord({ old }))).toMatchObject({ kind: 'erased', extractionId: id });
    for (const userIdentity of [
      { type: 'Service', principalId: 'dynamodb.amazonaws.com' },
      { Type: 'Service', PrincipalId: 'dynamodb.amazonaws.com' },
    ]) {
      expect(decodeExtractionEvent(streamRecord({ old }, { userIdentity })).kind).toBe('expired');
    }
  });
});

describe('an event', () => {
  const old = extractionIn('TIMED_OUT');
  const now = { ...old, status: 'COMPLETED', settledAt: iso(9_000), settledBy: 'webhook' } as const;

  test('carries what it is about, from where to where, and what distinguishes it from others', () => {
    const record = streamRecord({ old, new: now });
    expect(decodeExtractionEvent(record)).toEqual({
      kind: 'corrected',
      extractionId: id,
      eventId: record.eventID,
      sequenceNumber: record.dynamodb?.SequenceNumber,
      from: 'TIMED_OUT',
      outcome: 'COMPLETED',
      extraction: now,
    });
  });

  test('is the same off the bus, where the record is the data of a CloudEvent', () => {
    const data = streamRecord({ old, new: now });
    const event = { source: 'cosecha', 'detail-type': 'Extraction changed', detail: { data } };
    expect(decodeExtractionEvent(event.detail.data)).toEqual(decodeExtractionEvent(data));
  });

  test('of a status that is not known yet is decoded by whether there is an outcome', () => {
    const running = extractionIn('RUNNING');
    const kindOf = (fields: Record<string, unknown>) =>
      decodeExtractionEvent(streamRecord({ old: running, new: { ...running, ...fields } }));
    expect(kindOf({ status: 'PAUSED' })).toMatchObject({ kind: 'progressed', to: 'PAUSED' });
    expect(kindOf({ status: 'WITHDRAWN', settledAt: iso(60), reason: 'a-new-one' })).toMatchObject({
      kind: 'settled',
      outcome: 'WITHDRAWN',
    });
  });

  test('of results that will not come says why, again where the reason is another', () => {
    const settled = extractionIn('COMPLETED');
    const given = { ...settled, collectionError: 'no-results' };
    const otherwise = { ...settled, collectionError: 'results-too-large' };
    expect(decodeExtractionEvent(streamRecord({ old: settled, new: given }))).toMatchObject({
      kind: 'not-collected',
      collectionError: 'no-results',
    });
    expect(decodeExtractionEvent(streamRecord({ old: given, new: otherwise })).kind).toBe('not-collected');
    expect(decodeExtractionEvent(streamRecord({ old: given, new: { ...given, dueAt: iso(1) } })).kind).toBe(
      'housekeeping',
    );
  });

  test('of a collected extraction that is touched again is housekeeping', () => {
    const collected = extractionIn('COMPLETED', { collectedAt: iso(40) });
    const touched = { ...collected, expiresAt: 2 };
    expect(decodeExtractionEvent(streamRecord({ old: collected, new: touched })).kind).toBe('housekeeping');
  });

  test('is read from the records of Lambda, of the SDK and of the bus alike', () => {
    type Accepted = Parameters<typeof decodeExtractionEvent>[0];
    expectTypeOf<DynamoDBRecord>().toExtend<Accepted>();
    expectTypeOf<SdkRecord>().toExtend<Accepted>();
    expectTypeOf<
      EventBridgeEvent<'Extraction changed', { data: DynamoDBRecord }>['detail']['data']
    >().toExtend<Accepted>();
  });
});

describe('what is not ours is refused with a sentence:', () => {
  const old = extractionIn('RUNNING');
  const now = extractionIn('COMPLETED');
  const record = streamRecord({ old, new: now });
  const withStream = (fields: Partial<NonNullable<DynamoDBRecord['dynamodb']>>) => ({
    ...record,
    dynamodb: { ...record.dynamodb, ...fields },
  });

  test.each([
    ['something else altogether', {}, 'It is not a record of a DynamoDB stream'],
    ['null', null, 'It is not a record of a DynamoDB stream'],
    ['a record with null for its change', { ...record, dynamodb: null }, 'It is not a record of a DynamoDB'],
    ['a record with null for its name', { ...record, eventName: null }, 'It is not a record of a DynamoDB'],
    [
      'a record with null for its id',
      { ...record, eventID: null },
      'It is not a record of a DynamoDB stream',
    ],
    [
      'a record of another table',
      withStream({ Keys: { taskId: { S: 'task-1' } } }),
      'It is from another table',
    ],
    ['a stream without new images', withStream({ NewImage: undefined }), 'NEW_AND_OLD_IMAGES'],
    ['a stream without old images', withStream({ OldImage: undefined }), 'NEW_AND_OLD_IMAGES'],
    ['a newer schema', streamRecord({ old, new: { ...now, schemaVersion: 2 } }), 'schemaVersion is not 1'],
    [
      'a record without a schema',
      streamRecord({ old, new: { extractionId: id, status: 'COMPLETED' } }),
      'schemaVersion',
    ],
    [
      'a record without a status',
      streamRecord({ old, new: { ...now, status: undefined } }),
      'It has no status.',
    ],
    [
      'an image that is none',
      withStream({ NewImage: { status: { X: 'y' } } as never }),
      'Its new image is not',
    ],
    ['an old image that is none', withStream({ OldImage: { status: 5 } as never }), 'Its old image is not'],
  ])('%s', (_, other, sentence) => {
    const refused = decodeExtractionEvent(other as never);
    expect(refused).toEqual({ kind: 'not-ours', problem: expect.stringContaining(sentence) });
    expect(JSON.stringify(refused)).not.toContain('COMPLETED');
  });

  test('nothing at all is thrown, whatever comes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (keys, one, two) => {
        const dynamodb = { Keys: keys, OldImage: one, NewImage: two } as never;
        decodeExtractionEvent({ eventID: '1', eventName: 'MODIFY', dynamodb });
        decodeExtractionEvent({
          ...record,
          dynamodb: { ...record.dynamodb, OldImage: one, NewImage: two } as never,
        });
        decodeExtractionEvent({ ...record, eventID: keys, eventName: one, dynamodb: two } as never);
        decodeExtractionEvent(keys as never);
      }),
      { numRuns: 2_000 },
    );
  });
});
