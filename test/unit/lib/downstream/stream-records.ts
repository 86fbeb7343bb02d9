import { marshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import type { Extraction } from '#lib/extraction/record.ts';

type AnyRecord = Extraction | Record<string, unknown>;
type Images = { readonly old?: AnyRecord | undefined; readonly new?: AnyRecord | undefined };

const image = (record: AnyRecord) =>
  marshall(record, { removeUndefinedValues: true }) as Record<string, { S: string }>;

let records = 0;

/** A record of the table's stream as Lambda hands it over, with an id and a place in the order of its own. */
export const streamRecord = (images: Images, fields: Partial<DynamoDBRecord> = {}): DynamoDBRecord => {
  records += 1;
  const record = images.new ?? images.old ?? {};
  return {
    eventID: `event-${records}`,
    eventName: images.old === undefined ? 'INSERT' : images.new === undefined ? 'REMOVE' : 'MODIFY',
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: 'eu-west-1',
    dynamodb: {
      ApproximateCreationDateTime: 1_772_366_400,
      Keys: { extractionId: { S: String(record.extractionId) } },
      SequenceNumber: String(10n ** 24n + BigInt(records)),
      SizeBytes: 1_000,
      StreamViewType: 'NEW_AND_OLD_IMAGES',
      ...(images.old === undefined ? {} : { OldImage: image(images.old) }),
      ...(images.new === undefined ? {} : { NewImage: image(images.new) }),
    },
    eventSourceARN:
      'arn:aws:dynamodb:eu-west-1:111122223333:table/Extractions/stream/2026-03-01T12:00:00.000',
    ...fields,
  };
};
