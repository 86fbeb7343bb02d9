import type { DynamoDBRecord } from 'aws-lambda';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { decodeExtractionEvent } from '../../../../lib/downstream/decode-extraction-event.ts';
import {
  collectedEvent,
  correctedEvent,
  type EventFields,
  erasedEvent,
  expiredEvent,
  housekeepingEvent,
  type LambdaRecord,
  notCollectedEvent,
  progressedEvent,
  reopenedEvent,
  requestedEvent,
  restoredEvent,
  settledEvent,
} from '../../../../lib/downstream/testing.ts';
import { kinds } from '../../../../tools/contracts/stream-record-schema.ts';
import { allStatuses } from '../../../support/extraction-fixtures.ts';
import { closedSchemaViolations } from '../../docs/contract-schemas.ts';

const builders: Readonly<Record<string, (fields?: EventFields) => LambdaRecord>> = {
  requested: requestedEvent,
  progressed: progressedEvent,
  settled: settledEvent,
  corrected: correctedEvent,
  reopened: reopenedEvent,
  collected: collectedEvent,
  'not-collected': notCollectedEvent,
  housekeeping: housekeepingEvent,
  restored: restoredEvent,
  erased: erasedEvent,
  expired: expiredEvent,
};

test('there is a builder for each kind', () => {
  expect(Object.keys(builders)).toEqual(Object.keys(kinds));
  expectTypeOf<LambdaRecord>().toExtend<DynamoDBRecord>();
});

const requests: readonly (readonly [string, EventFields])[] = [
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
  const record = settledEvent({ status });
  expect(closedSchemaViolations('stream-record.json#/$defs/settled', record)).toEqual([]);
  const isFinal = status === 'TIMED_OUT' || status === 'UNCONFIRMED' ? undefined : true;
  const event = decodeExtractionEvent(record);
  expect(event).toMatchObject({ kind: 'settled', outcome: status });
  expect('extraction' in event && event.extraction.isFinal).toBe(isFinal);
});

test('a later record has another eventID and a higher SequenceNumber', () => {
  const [one, two] = [settledEvent(), collectedEvent()];
  expect(one.eventID).not.toBe(two.eventID);
  expect(BigInt(one.dynamodb.SequenceNumber)).toBeLessThan(BigInt(two.dynamodb.SequenceNumber));
  expect(one.dynamodb.Keys).toEqual(two.dynamodb.Keys);
});
