import type { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { expect, test } from 'vitest';
import { EventRefused, putEventOn } from '#lib/aws/put-event.ts';
import { decodeExtractionEvent } from '#lib/downstream/decode-extraction-event.ts';
import { type BusEntry, publishEvents } from '#lib/downstream/publish-events.ts';
import * as recordOf from '#lib/downstream/stream-records-for-tests.ts';
import { stubClient } from '../../../support/aws/stub-client.ts';
import { schemaViolations } from '../../docs/contract-schemas.ts';
import { documentedRecords } from '../../docs/documented-records.ts';
import { read } from '../../docs/pages.ts';

test('an outcome is put with its kind as detail-type, and nothing is put of an internal change', async () => {
  const put: BusEntry[] = [];
  const Records = [recordOf.housekeepingEvent(), recordOf.settledEvent({ status: 'CREDENTIALS_WRONG' })];
  const answer = await publishEvents(
    { Records },
    { source: 'urn:cosecha:stack:Cosecha-prod', put: async (entry) => void put.push(entry) },
  );
  expect(answer).toEqual({ batchItemFailures: [] });
  expect(put).toMatchObject([
    { detailType: 'extraction.settled', detail: { data: { extraction: { advice: 'ask-user' } } } },
  ]);
});

const source = 'urn:cosecha:stack:Cosecha-prod';

/** What a batch puts on a bus that refuses the entries of `refused`, and the answer to Lambda. */
const publish = async (Records: readonly recordOf.LambdaRecord[], refused: readonly string[] = []) => {
  const entries: BusEntry[] = [];
  const put = async (entry: BusEntry): Promise<void> => {
    if (refused.includes(entry.detail.id)) throw new EventRefused('ThrottlingException');
    entries.push(entry);
  };
  return { answer: await publishEvents({ Records }, { source, put }), entries };
};

const ofKind = {
  requested: recordOf.requestedEvent(),
  progressed: recordOf.progressedEvent(),
  settled: recordOf.settledEvent({ traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }),
  corrected: recordOf.correctedEvent(),
  reopened: recordOf.reopenedEvent(),
  collected: recordOf.collectedEvent({ method: 'consent' }),
  'not-collected': recordOf.notCollectedEvent(),
  advised: recordOf.advisedEvent(),
  erasing: recordOf.erasingEvent(),
  housekeeping: recordOf.housekeepingEvent(),
  restored: recordOf.restoredEvent(),
  erased: recordOf.erasedEvent(),
  expired: recordOf.expiredEvent(),
};

test.each(Object.entries(ofKind))(
  'a consumer of the stream and one of the bus get the same event: %s',
  async (kind, record) => {
    const { entries } = await publish([record]);
    if (['requested', 'progressed', 'housekeeping', 'expired'].includes(kind))
      return expect(entries).toEqual([]);
    const [{ detailType, detail } = {} as BusEntry] = entries;
    const received = JSON.parse(JSON.stringify(detail));
    expect(received.data).toEqual(decodeExtractionEvent(record));
    expect(received.data).toMatchObject({ kind, sequenceNumber: record.dynamodb.SequenceNumber });
    const event = {
      ...JSON.parse(read('docs/events/bus/settled.json')),
      'detail-type': detailType,
      detail: received,
    };
    expect(schemaViolations('bus-event.json', event)).toEqual([]);
    expect(detailType).toBe(`extraction.${kind}`);
    expect(received.traceparent).toBe(received.data.extraction?.traceparent);
    const { subject: _subject, ...withoutSubject } = received;
    expect(schemaViolations('bus-event.json', { ...event, detail: withoutSubject })).not.toEqual([]);
  },
);

test('the documented event of the bus is that of the documented record', () => {
  const { detail } = JSON.parse(read('docs/events/bus/settled.json'));
  const { traceparent, ...extraction } = detail.data.extraction;
  const record = documentedRecords().get('settled');
  expect({ ...detail.data, extraction }).toEqual(record && decodeExtractionEvent(record as never));
  expect(traceparent).toBe(detail.traceparent);
});

test('a refused entry fails its own record, and those before it are not put again', async () => {
  const Records = [recordOf.settledEvent(), recordOf.collectedEvent(), recordOf.correctedEvent()];
  const refused = Records[1]?.eventID ?? '';
  const { answer, entries } = await publish(Records, [refused]);
  expect(entries.map(({ detail }) => detail.id)).toEqual([Records[0]?.eventID]);
  expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: Records[1]?.dynamodb.SequenceNumber }] });
  // Lambda's next batch begins with it. Only an error splits that batch.
  await expect(publish(Records.slice(1), [refused])).rejects.toThrow(EventRefused);
});

test('an entry that EventBridge refuses in an answer of 200 is a failure, with its code alone', async () => {
  const entry = { detailType: 'extraction.settled', detail: { id: '1' } } as unknown as BusEntry;
  const answers = [{ ErrorCode: 'InternalFailure', ErrorMessage: 'about it' }, { EventId: '1' }];
  const { client, sent } = stubClient<EventBridgeClient>(() => ({ Entries: [answers.shift()] }));
  const put = putEventOn(client, 'bus');
  const refusal = await put(entry).catch((error: unknown) => error);
  expect(refusal).toMatchObject({
    code: 'InternalFailure',
    message: 'The bus refused an event: InternalFailure.',
  });
  await put(entry);
  expect(sent[1]?.input.Entries).toEqual([
    { EventBusName: 'bus', Source: 'cosecha', DetailType: 'extraction.settled', Detail: '{"id":"1"}' },
  ]);
});
