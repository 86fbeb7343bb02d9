import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { ExtractionEvent, ExtractionSnapshot, NotOurs } from './extraction-event.ts';

/** The version of the record that this decoder reads. Another one means other attributes: docs/stream.md. */
const SCHEMA_VERSION = 1;

type Image = Readonly<Record<string, unknown>>;

/**
 * As much of a stream record as is read. A record of @types/aws-lambda fits, one of the AWS SDK's DynamoDB Streams
 * client too, and the `detail` of an event that the stack's pipe put on its bus.
 */
export type StreamRecord = {
  readonly eventID?: string | undefined;
  readonly eventName?: string | undefined;
  /** Who made the change, where it was not a caller: DynamoDB itself, for time to live. */
  readonly userIdentity?: unknown;
  readonly dynamodb?:
    | {
        readonly Keys?: Image | undefined;
        readonly OldImage?: Image | undefined;
        readonly NewImage?: Image | undefined;
        readonly SequenceNumber?: string | undefined;
      }
    | undefined;
};

/**
 * What a record of the table's stream tells, as Lambda hands it over (`event.Records[n]`), or as the pipe puts it
 * on the bus (`event.detail`). Never throws: what cannot be read is `not-ours`.
 *
 * New attributes, statuses, reasons and error codes pass. Kinds are told by the attributes that stand for them
 * (`settledAt`, `collectedAt`, `collectionError`), not by a list of statuses, so a new outcome is `settled` as well.
 */
export const decodeExtractionEvent = (record: StreamRecord): ExtractionEvent | NotOurs => {
  // The types exclude null, but JSON does not.
  const { eventID: eventId, eventName, dynamodb } = (record as StreamRecord | null) ?? {};
  if (typeof eventId !== 'string' || typeof eventName !== 'string' || !dynamodb) {
    return notOurs('It is no record of a DynamoDB stream: eventID, eventName or dynamodb is missing.');
  }
  const extractionId = textIn(dynamodb.Keys, 'extractionId');
  if (extractionId === undefined) {
    return notOurs('It is of another table: its key is not extractionId.');
  }
  const told = { extractionId, eventId, sequenceNumber: dynamodb.SequenceNumber ?? '' };
  if (eventName === 'REMOVE') return { kind: isByTimeToLive(record) ? 'expired' : 'erased', ...told };

  const { OldImage, NewImage } = dynamodb;
  const lacks = NewImage === undefined || (OldImage === undefined && eventName !== 'INSERT');
  if (lacks) return notOurs('It lacks an image: the stream must have the view type NEW_AND_OLD_IMAGES.');

  const now = asRecord(NewImage);
  if (now === undefined) return notOurs('Its new image is not in the format of DynamoDB.');
  if (now.schemaVersion !== SCHEMA_VERSION) {
    return notOurs(`Its schemaVersion is not ${SCHEMA_VERSION}: a newer version of this package reads it.`);
  }
  if (typeof now.status !== 'string') return notOurs('It has no status.');
  const extraction = now as ExtractionSnapshot;
  if (OldImage === undefined) {
    // Whoever asks for an extraction writes REQUESTED; further on, a record is only born from a backup.
    return { kind: extraction.status === 'REQUESTED' ? 'requested' : 'restored', ...told, extraction };
  }

  const before = asRecord(OldImage);
  if (before === undefined) return notOurs('Its old image is not in the format of DynamoDB.');
  return { ...told, extraction, ...changeOf(before as ExtractionSnapshot, extraction) };
};

const notOurs = (problem: string): NotOurs => ({ kind: 'not-ours', problem });

const textIn = (image: Image | undefined, name: string): string | undefined => {
  const attribute = image?.[name] as { readonly S?: unknown } | undefined;
  return typeof attribute?.S === 'string' ? attribute.S : undefined;
};

const asRecord = (image: Image): Record<string, unknown> | undefined => {
  try {
    return unmarshall(image as Parameters<typeof unmarshall>[0]);
  } catch {
    return undefined;
  }
};

/** "Items that are deleted by TTL": https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/time-to-live-ttl-streams.html */
const isByTimeToLive = ({ userIdentity }: StreamRecord): boolean => {
  // Lambda spells its fields in lower case, the DynamoDB Streams API and its SDK client in upper case.
  const { type, principalId, Type, PrincipalId } = (userIdentity ?? {}) as Readonly<Record<string, unknown>>;
  return (type ?? Type) === 'Service' && (principalId ?? PrincipalId) === 'dynamodb.amazonaws.com';
};

const changeOf = (before: ExtractionSnapshot, now: ExtractionSnapshot) => {
  if (before.status !== now.status) return moveOf(before, now);
  if (now.collectedAt !== undefined && before.collectedAt === undefined) {
    return { kind: 'collected' } as const;
  }
  if (now.collectionError !== undefined && now.collectionError !== before.collectionError) {
    return { kind: 'not-collected', collectionError: now.collectionError } as const;
  }
  return { kind: 'housekeeping' } as const;
};

const moveOf = (before: ExtractionSnapshot, now: ExtractionSnapshot) => {
  const hadOutcome = before.settledAt !== undefined;
  if (now.settledAt === undefined) {
    return { kind: hadOutcome ? 'reopened' : 'progressed', from: before.status, to: now.status } as const;
  }
  return { kind: hadOutcome ? 'corrected' : 'settled', from: before.status, outcome: now.status } as const;
};
