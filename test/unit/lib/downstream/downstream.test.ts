import type { DynamoDBRecord } from 'aws-lambda';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { consumeExtractionEvents } from '#lib/downstream/consume-extraction-events.ts';
import { decodeExtractionEvent } from '#lib/downstream/decode-extraction-event.ts';
import type { ExtractionEvent } from '#lib/downstream/extraction-event.ts';
import * as records from '#lib/downstream/stream-records-for-tests.ts';
import { kinds } from '../../../../tools/contracts/stream-record-schema.ts';
import { allStatuses, extraction, extractionIn } from '../../../support/data/extraction-fixtures.ts';
import { closedSchemaViolations } from '../../docs/contract-schemas.ts';
import { streamRecord } from './stream-records.ts';

test('a consumer handles each event of a batch in order, and names the first that it could not handle', async () => {
  const Records = [records.requestedEvent(), records.settledEvent(), records.collectedEvent()];
  const handled: string[] = [];
  const response = await consumeExtractionEvents({ Records }, async (event) => {
    if (event.kind === 'collected') throw new Error('The handler fails.');
    handled.push(event.kind === 'settled' ? `settled as ${event.outcome}` : event.kind);
  });
  expect(handled).toEqual(['requested', 'settled as COMPLETED']);
  expect(response.batchItemFailures).toEqual([{ itemIdentifier: Records[2]?.dynamodb.SequenceNumber }]);
});

const batch = () => [
  streamRecord({ new: extraction() }),
  streamRecord({ old: extractionIn('RUNNING'), new: extractionIn('COMPLETED') }),
  streamRecord({ old: extractionIn('COMPLETED') }),
];

const failingAt = (nth: number, handled: string[]) => async (event: ExtractionEvent) => {
  handled.push(event.kind);
  if (handled.length === nth) throw new Error(`the handler failed at ${nth}`);
};

describe('a batch', () => {
  test('is also the list that EventBridge Pipes passes, and nothing else', async () => {
    const handled: string[] = [];
    expect(await consumeExtractionEvents(batch(), failingAt(9, handled))).toEqual({ batchItemFailures: [] });
    expect(handled).toEqual(['requested', 'settled', 'erased']);
    for (const other of [null, {}, { detail: {} }, { Records: 'none' }, 'text']) {
      const consumed = consumeExtractionEvents(other as never, failingAt(9, handled));
      await expect(consumed).rejects.toThrow('It is not a batch of records');
    }
    await expect(consumeExtractionEvents([null] as never, failingAt(9, handled))).rejects.toThrow(
      'It is not a',
    );
  });

  test('is not passed over where it is not of ours', async () => {
    const foreign = streamRecord({ new: { ...extraction(), schemaVersion: 2 } });
    const handled: string[] = [];
    const handle = failingAt(9, handled);
    await expect(consumeExtractionEvents({ Records: [foreign, ...batch()] }, handle)).rejects.toMatchObject({
      name: 'RecordNotOurs',
      message: expect.stringContaining('schemaVersion'),
    });
    expect(await consumeExtractionEvents({ Records: [...batch(), foreign] }, handle)).toEqual({
      batchItemFailures: [{ itemIdentifier: foreign.dynamodb?.SequenceNumber }],
    });
    expect(handled).toHaveLength(3);
  });
});

const builders: Readonly<Record<string, (fields?: records.EventFields) => records.LambdaRecord>> = {
  requested: records.requestedEvent,
  progressed: records.progressedEvent,
  settled: records.settledEvent,
  corrected: records.correctedEvent,
  reopened: records.reopenedEvent,
  collected: records.collectedEvent,
  'not-collected': records.notCollectedEvent,
  advised: records.advisedEvent,
  erasing: records.erasingEvent,
  housekeeping: records.housekeepingEvent,
  restored: records.restoredEvent,
  erased: records.erasedEvent,
  expired: records.expiredEvent,
};

test('there is a builder for each kind', () => {
  expect(Object.keys(builders)).toEqual(Object.keys(kinds));
  expectTypeOf<records.LambdaRecord>().toExtend<DynamoDBRecord>();
});

const requests: readonly (readonly [string, records.EventFields])[] = [
  ['with typical values', {}],
  ['by consent', { method: 'consent', product: 'tef', reference: 'order-7' }],
  ['of another extraction', { extractionId: '0190a0b0-0000-7000-8000-00000000000a', entity: 'other-bank' }],
];

describe.each(Object.entries(builders))('a record of the kind %s', (kind, build) => {
  test.each(requests)('%s fits the schema, and has the fields that were given', (_, fields) => {
    const record = build(fields);
    expect(closedSchemaViolations(`stream-record.json#/$defs/${kind}`, record)).toEqual([]);
    const event = decodeExtractionEvent(record);
    expect(event.kind).toBe(kind);
    if ('extraction' in event) expect(event.extraction).toMatchObject(fields);
    else if (fields.extractionId !== undefined)
      expect(event).toMatchObject({ extractionId: fields.extractionId });
  });
});

const outcomes = allStatuses.filter((status) => !['REQUESTED', 'STARTING', 'RUNNING'].includes(status));

test.each(outcomes)('a settled record with the status %s is as the service writes it', (status) => {
  const record = records.settledEvent({ status });
  expect(closedSchemaViolations('stream-record.json#/$defs/settled', record)).toEqual([]);
  const isFinal = status === 'TIMED_OUT' || status === 'UNCONFIRMED' ? undefined : true;
  const event = decodeExtractionEvent(record);
  expect(event).toMatchObject({ kind: 'settled', outcome: status });
  expect('extraction' in event && event.extraction.isFinal).toBe(isFinal);
});

test('a later record has another eventID and a higher SequenceNumber', () => {
  const [one, two] = [records.settledEvent(), records.collectedEvent()];
  expect(one.eventID).not.toBe(two.eventID);
  expect(BigInt(one.dynamodb.SequenceNumber)).toBeLessThan(BigInt(two.dynamodb.SequenceNumber));
  expect(one.dynamodb.Keys).toEqual(two.dynamodb.Keys);
});
