import type { _Record as SdkRecord } from '@aws-sdk/client-dynamodb-streams';
import type { DynamoDBRecord, EventBridgeEvent } from 'aws-lambda';
import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { decodeExtractionEvent } from '#lib/downstream/decode-extraction-event.ts';
import { advisedEvent, erasedEvent, settledEvent } from '#lib/downstream/stream-records-for-tests.ts';
import { allowedTransitions, type Change } from '#lib/extraction/change.ts';
import { type Extraction, isTerminalStatus, terminalStatuses } from '#lib/extraction/record.ts';
import * as transitions from '#lib/extraction/transitions.ts';
import { at, extraction, extractionIn, id, iso, timings } from '../../../support/data/extraction-fixtures.ts';
import { memoryExtractionStore } from '../../../support/stores/memory-extraction-store.ts';
import { streamRecord } from './stream-records.ts';

test('a record of the stream is an event by what changed, with the record after the change', () => {
  const record = settledEvent({ status: 'FAILED', reference: 'order-7' });
  const event = decodeExtractionEvent(record);
  expect(event).toMatchObject({
    kind: 'settled',
    from: 'RUNNING',
    outcome: 'FAILED',
    eventId: record.eventID,
    extraction: { reference: 'order-7', status: 'FAILED' },
  });
  expect(decodeExtractionEvent(erasedEvent())).toMatchObject({ kind: 'erased' });
  expect(decodeExtractionEvent({})).toMatchObject({ kind: 'not-ours' });
});

const decoded = (...of: Parameters<typeof streamRecord>) => decodeExtractionEvent(streamRecord(...of));

/** All that any of the changes needs. */
const neededFor = (record: Extraction, now: Date, taskId = record.taskId ?? 'task-1') => ({
  record,
  now,
  timings,
  attemptId: record.attemptId ?? 'attempt-1',
  taskId,
  reported: { extractionId: id, taskId, reason: undefined, isOversized: false },
  reason: 'reason',
  settledBy: 'start' as const,
  notBefore: undefined,
  results: undefined,
  actionResults: undefined,
  collectionError: 'results-too-large',
  dueAt: now.toISOString(),
  readsSlowly: false,
});

type Needed = ReturnType<typeof neededFor>;
type Write = readonly [kind: string, make: (of: Needed) => Change, isFor?: (record: Extraction) => boolean];

const isCollectable = ({ status, collectedAt }: Extraction): boolean =>
  isTerminalStatus(status) && collectedAt === undefined;
const isUnexplained = (record: Extraction): boolean => record.collectionError === undefined;
const isTimedOut = ({ status }: Extraction): boolean => status === 'TIMED_OUT';
const isWaiting = (record: Extraction): boolean => isTimedOut(record) && record.advice === 'wait';
const results = { bucket: 'results', key: 'key', bytes: 2, sha256: 'a'.repeat(64) };

/** Every write that the service makes, the kind of event that it is to a consumer, and the records that it is for. */
const writes: readonly Write[] = [
  ['progressed', transitions.markStarting],
  ['progressed', transitions.revertToRequested],
  ['progressed', transitions.markRunning],
  ['reopened', transitions.markRunningLate],
  ['settled', transitions.rejectRefused],
  ['settled', transitions.markRejected],
  ['settled', transitions.markUnconfirmed],
  ['settled', transitions.markNotStarted],
  ['settled', transitions.markTimedOut],
  ['settled', transitions.timeOutOversized],
  ['settled', transitions.disownTask],
  ['housekeeping', transitions.rememberOversized],
  ...terminalStatuses.flatMap((taskStatus): readonly Write[] => [
    ['settled', (of) => transitions.markSettled({ ...of, reported: { ...of.reported, taskStatus } })],
    ['corrected', (of) => transitions.correctOutcome({ ...of, reported: { ...of.reported, taskStatus } })],
  ]),
  ['collected', (of) => transitions.closeCollected({ ...of, results }), isCollectable],
  ['collected', transitions.closeCollected, isCollectable],
  ['not-collected', transitions.closeUncollected, (record) => isCollectable(record) && isUnexplained(record)],
  [
    'not-collected',
    transitions.abandonOversized,
    (record) => (isCollectable(record) || isTimedOut(record)) && isUnexplained(record),
  ],
  ['advised', transitions.closeAfterGrace, isWaiting],
  ['erasing', transitions.markErasing, (record) => record.erasingAt === undefined],
  ['housekeeping', transitions.reschedule],
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
            const needed = neededFor(old, at(seconds));
            const possible = writes.filter(
              ([, make, isFor]) =>
                (isFor?.(old) ?? true) && make(needed).when.status?.some((status) => status === old.status),
            );
            const write = possible[choice % possible.length];
            if (write === undefined) break;
            const [kind, make] = write;
            const result = await store.apply(make(needed));
            if (!result.applied) continue;
            const images = { old: { ...old, ...unknown }, new: { ...result.record, ...unknown } };
            const event = decoded(images);
            expect(event).toMatchObject({ kind, extractionId: id, extraction: images.new });
            expect(event.kind).toBe(decoded({ old, new: result.record }).kind);
            seen.set(kind, (seen.get(kind) ?? 0) + 1);
            pastMoves.add(`${old.status} ${result.record.status}`);
          }
        },
      ),
      { numRuns: 500, seed: 6 },
    );
    // The walk went everywhere: every kind that a write can have, and every move of the table.
    expect([...seen.keys()].toSorted()).toEqual([...new Set(writes.map(([kind]) => kind))].toSorted());
    const everyMove = Object.values(allowedTransitions).flatMap(({ from, to }) =>
      from.flatMap((one) => to.map((two) => `${one} ${two}`)),
    );
    expect([...pastMoves]).toEqual(expect.arrayContaining(everyMove));
  });

  test('a delete is an erasure, unless time to live did it', () => {
    const old = extractionIn('COMPLETED');
    expect(decoded({ old })).toMatchObject({ kind: 'erased', extractionId: id });
    for (const userIdentity of [
      { type: 'Service', principalId: 'dynamodb.amazonaws.com' },
      { Type: 'Service', PrincipalId: 'dynamodb.amazonaws.com' },
    ]) {
      expect(decoded({ old }, { userIdentity }).kind).toBe('expired');
    }
  });
});

describe('an event', () => {
  test('of results that will not come says why, again where the reason is another', () => {
    const settled = extractionIn('COMPLETED');
    const given = { ...settled, collectionError: 'no-results' };
    const otherwise = { ...settled, collectionError: 'results-too-large' };
    expect(decoded({ old: settled, new: given })).toMatchObject({
      kind: 'not-collected',
      collectionError: 'no-results',
    });
    expect(decoded({ old: given, new: otherwise }).kind).toBe('not-collected');
    expect(decoded({ old: given, new: { ...given, dueAt: iso(1) } }).kind).toBe('housekeeping');
  });

  test('is read as it was decoded: a line of export, an event of the bus, and its detail', () => {
    for (const event of [settledEvent(), erasedEvent()].map((record) => decodeExtractionEvent(record))) {
      // Through JSON, as it arrives.
      const line = JSON.parse(JSON.stringify(event));
      const detail = { specversion: '1.0', data: line };
      for (const encoded of [line, detail, { 'detail-type': 'extraction.settled', detail }]) {
        expect(decodeExtractionEvent(encoded)).toEqual(line);
      }
    }
    const later = { ...decodeExtractionEvent(settledEvent()), kind: 'withdrawn' };
    expect(decodeExtractionEvent(later as never)).toEqual(later);
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
  const settled = decodeExtractionEvent(record);
  const withStream = (fields: Partial<NonNullable<DynamoDBRecord['dynamodb']>>) => ({
    ...record,
    dynamodb: { ...record.dynamodb, ...fields },
  });

  test.each([
    ['something else altogether', {}, 'It is not a record of a DynamoDB stream'],
    ['null', null, 'It is not a record of a DynamoDB stream'],
    ['a record with null for its change', { ...record, dynamodb: null }, 'It is not a record of a DynamoDB'],
    ['a record with null for its name', { ...record, eventName: null }, 'It is not a record of a DynamoDB'],
    ['a record with null for its id', { ...record, eventID: null }, 'It is not a record of a DynamoDB'],
    [
      'a record of Kinesis',
      { eventSource: 'aws:kinesis', kinesis: { data: 'e30=' } },
      'a Kinesis data stream',
    ],
    ['a message of a queue', { eventSource: 'aws:sqs', body: '{}' }, 'an SQS queue'],
    ['a notification', { EventSource: 'aws:sns', Sns: {} }, 'an SNS topic'],
    ['a batch', { Records: [record] }, 'pass each of its Records'],
    ['the list of a pipe', [record], 'EventBridge Pipes'],
    ['a record without a sequence number', withStream({ SequenceNumber: undefined }), 'Kinesis'],
    ['a record with an empty one', withStream({ SequenceNumber: '' }), 'It has no sequence number'],
    ['a record with a text for one', withStream({ SequenceNumber: '1e3' }), 'It has no sequence number'],
    [
      'a deletion without one',
      { ...streamRecord({ old }), dynamodb: { Keys: { extractionId: { S: id } } } },
      'Kinesis',
    ],
    ['an event without a sequence number', { ...settled, sequenceNumber: undefined }, 'It is not an event'],
    ['an event of a newer schema', { ...settled, extraction: { ...now, schemaVersion: 2 } }, 'schemaVersion'],
    ['an event without an extraction', { ...settled, extraction: undefined }, 'schemaVersion'],
    ['a record of another table', withStream({ Keys: { taskId: { S: 't' } } }), 'It is from another table'],
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

test('a change that takes the advice away, which only somebody by hand makes, is housekeeping', () => {
  const record = advisedEvent();
  const { advice: _, ...without } = record.dynamodb.NewImage ?? {};
  const changed = { ...record, dynamodb: { ...record.dynamodb, NewImage: without } };
  expect(decodeExtractionEvent(changed).kind).toBe('housekeeping');
});
