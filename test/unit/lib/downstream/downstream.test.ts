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

type Builder = (fields?: records.EventFields) => records.LambdaRecord;
const builders = records as unknown as Readonly<Record<string, Builder>>;
expectTypeOf<records.LambdaRecord>().toExtend<DynamoDBRecord>();

const requests: readonly (readonly [string, records.EventFields])[] = [
  ['with typical values', {}],
  ['by consent', { method: 'consent', product: 'tef', reference: 'order-7' }],
  ['of another extraction', { extractionId: '0190a0b0-0000-7000-8000-00000000000a', entity: 'other-bank' }],
];

describe.each(Object.keys(kinds))('a record of the kind %s', (kind) => {
  test.each(requests)('%s fits the schema, and has the fields that were given', (_, fields) => {
    const name = kind.replace(/-(.)/, (_, letter: string) => letter.toUpperCase());
    const record = builders[`${name}Event`]?.(fields) ?? {};
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

const maxTries = 4;

/**
 * Lambda hands over a batch until all of it is handled. A function error splits it, and a reported record begins the next one
 * (https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html). A record that fails alone is tried some
 * times. Returns the records that were given up.
 */
const deliver = async (
  batch: readonly records.LambdaRecord[],
  handle: (event: ExtractionEvent) => Promise<void>,
  tries = 1,
): Promise<readonly records.LambdaRecord[]> => {
  const answer = await consumeExtractionEvents({ Records: batch }, handle).catch(() => undefined);
  if (answer !== undefined) {
    const [failed] = answer.batchItemFailures;
    if (failed === undefined) return [];
    const from = batch.findIndex(({ dynamodb }) => dynamodb.SequenceNumber === failed.itemIdentifier);
    return deliver(batch.slice(from), handle);
  }
  if (batch.length === 1) return tries === maxTries ? batch : deliver(batch, handle, tries + 1);
  const middle = Math.ceil(batch.length / 2);
  const [first, second] = [batch.slice(0, middle), batch.slice(middle)];
  return [...(await deliver(first, handle)), ...(await deliver(second, handle))];
};

/** So many extractions, each with the changes of its life. Those of one are not beside each other. */
const lifeOf = (extractions: number): readonly records.LambdaRecord[] =>
  [records.requestedEvent, records.settledEvent, records.collectedEvent].flatMap((event) =>
    Array.from({ length: extractions }, (_, index) => event({ extractionId: `extraction-${index}` })),
  );

const sizes = [1, 2, 3, 4];

/** Delivers the life of some extractions. Returns the sequence numbers that were handled and given up, in order. */
const run = async (size: number, fails: (sequenceNumber: string, calls: number) => boolean) => {
  const life = lifeOf(size);
  const numbers = life.map(({ dynamodb }) => dynamodb.SequenceNumber);
  const handled: string[] = [];
  let calls = 0;
  const givenUp = await deliver(life, async ({ sequenceNumber }) => {
    calls += 1;
    if (fails(String(numbers.indexOf(sequenceNumber)), calls)) throw new Error('The handler fails.');
    handled.push(sequenceNumber);
  });
  return { numbers, calls, handled, givenUp: givenUp.map(({ dynamodb }) => dynamodb.SequenceNumber) };
};

test.each(sizes)(
  'of %i extractions, a failure at whichever call loses, repeats and reorders nothing',
  async (size) => {
    for (let failsAt = 1, made = 1; failsAt <= made; failsAt += 1) {
      const { calls, handled, numbers, givenUp } = await run(size, (_number, call) => call === failsAt);
      expect(handled).toEqual(numbers);
      expect(givenUp).toEqual([]);
      made = calls;
    }
  },
);

test.each(sizes)('of %i extractions, a record that always fails is given up alone', async (size) => {
  for (let bad = 0; bad < size * 3; bad += 1) {
    const { handled, numbers, givenUp } = await run(size, (number) => number === String(bad));
    expect(givenUp).toEqual([numbers[bad]]);
    expect(handled).toEqual(numbers.filter((_number, index) => index !== bad));
  }
});
