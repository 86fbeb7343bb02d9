import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { ExtractionEvent, ExtractionSnapshot, NotOurs } from './extraction-event.ts';

/** The version of the record that this decoder reads (docs/stream.md). */
const schemaVersion = 1;

type Image = Readonly<Record<string, unknown>>;

/**
 * The part of a stream record that is read. It accepts a record of @types/aws-lambda, and a record of the AWS SDK's
 * DynamoDB Streams client.
 */
export type StreamRecord = {
  readonly eventID?: string | undefined;
  readonly eventName?: string | undefined;
  /** Set if DynamoDB itself made the change, for time to live. */
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
 * Decodes a stream record, such as `event.Records[n]` of Lambda. Never throws: a record that cannot be read is `not-ours`. An event of
 * the bus has what it returns, as `event.detail.data`.
 *
 * New attributes, statuses, reasons and error codes are accepted. The kind depends on attributes (`settledAt`,
 * `collectedAt`, `collectionError`) and not on a list of statuses, so a new outcome is `settled` too.
 */
export const decodeExtractionEvent = (record: StreamRecord): ExtractionEvent | NotOurs => {
  // The types exclude null, but JSON does not.
  const { eventID: eventId, eventName, dynamodb } = (record as StreamRecord | null) ?? {};
  if (typeof eventId !== 'string' || typeof eventName !== 'string' || !dynamodb) {
    return notOurs('It is not a record of a DynamoDB stream: eventID, eventName or dynamodb is missing.');
  }
  const extractionId = textIn(dynamodb.Keys, 'extractionId');
  if (extractionId === undefined) {
    return notOurs('It is from another table: its key is not extractionId.');
  }
  const change = { extractionId, eventId, sequenceNumber: dynamodb.SequenceNumber ?? '' };
  if (eventName === 'REMOVE') return { kind: isByTimeToLive(record) ? 'expired' : 'erased', ...change };

  const { OldImage, NewImage } = dynamodb;
  const lacksImage = NewImage === undefined || (OldImage === undefined && eventName !== 'INSERT');
  if (lacksImage) return notOurs('It lacks an image: the stream must have the view type NEW_AND_OLD_IMAGES.');

  const now = asRecord(NewImage);
  if (now === undefined) return notOurs('Its new image is not in the format of DynamoDB.');
  if (now.schemaVersion !== schemaVersion) {
    return notOurs(`Its schemaVersion is not ${schemaVersion}: a newer version of this package reads it.`);
  }
  if (typeof now.status !== 'string') return notOurs('It has no status.');
  const extraction = now as ExtractionSnapshot;
  if (OldImage === undefined) {
    // A new request is written as REQUESTED. A new record with another status comes from a backup.
    return { kind: extraction.status === 'REQUESTED' ? 'requested' : 'restored', ...change, extraction };
  }

  const before = asRecord(OldImage);
  if (before === undefined) return notOurs('Its old image is not in the format of DynamoDB.');
  return { ...change, extraction, ...kindOf(before as ExtractionSnapshot, extraction) };
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

/**
 * "Items that are deleted by TTL":
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/time-to-live-ttl-streams.html
 */
const isByTimeToLive = ({ userIdentity }: StreamRecord): boolean => {
  // Lambda writes its fields in lower case. The DynamoDB Streams API and its SDK client write them in upper case.
  const { type, principalId, Type, PrincipalId } = (userIdentity ?? {}) as Readonly<Record<string, unknown>>;
  return (type ?? Type) === 'Service' && (principalId ?? PrincipalId) === 'dynamodb.amazonaws.com';
};

const kindOf = (before: ExtractionSnapshot, now: ExtractionSnapshot) => {
  if (before.status !== now.status) return transitionOf(before, now);
  if (now.collectedAt !== undefined && before.collectedAt === undefined) {
    return { kind: 'collected' } as const;
  }
  if (now.collectionError !== undefined && now.collectionError !== before.collectionError) {
    return { kind: 'not-collected', collectionError: now.collectionError } as const;
  }
  if (now.advice !== undefined && now.advice !== before.advice) return { kind: 'advised' } as const;
  return { kind: 'housekeeping' } as const;
};

const transitionOf = (before: ExtractionSnapshot, now: ExtractionSnapshot) => {
  const hadOutcome = before.settledAt !== undefined;
  if (now.settledAt === undefined) {
    return { kind: hadOutcome ? 'reopened' : 'progressed', from: before.status, to: now.status } as const;
  }
  return { kind: hadOutcome ? 'corrected' : 'settled', from: before.status, outcome: now.status } as const;
};
