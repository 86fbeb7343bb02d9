import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { ExtractionEvent, ExtractionSnapshot, NotOurs } from './extraction-event.ts';

/** The version of the record that this decoder reads (docs/stream.md). */
const schemaVersion = 1;

type Image = Readonly<Record<string, unknown>>;

/** The part of a stream record that is read. Records of @types/aws-lambda and of the AWS SDK's DynamoDB Streams client both fit. */
export type StreamRecord = {
  readonly eventID?: string | undefined;
  readonly eventName?: string | undefined;
  /** Set if DynamoDB itself made the change, because of time to live. */
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

/** An event as JSON: a line of `cosecha export`, or the `data` of a CloudEvent on the bus. */
type EventAsJson = { readonly kind: string; readonly extractionId: string; readonly sequenceNumber: string };

/** A stream record, or what was made of it: an event of the bus, its `detail`, or an event as JSON. */
export type EncodedEvent =
  | StreamRecord
  | EventAsJson
  | { readonly data: EventAsJson }
  | { readonly detail: { readonly data: EventAsJson } };

/**
 * Decodes a stream record, such as `event.Records[n]` of Lambda, an event of the bus, or a line of `cosecha export`. It never throws.
 * Anything else becomes `not-ours`.
 *
 * New attributes, statuses, reasons and error codes are accepted. The kind depends on attributes (`settledAt`, `collectedAt`,
 * `collectionError`) and not on a list of statuses. So a new outcome is `settled` too.
 */
export const decodeExtractionEvent = (encoded: EncodedEvent): ExtractionEvent | NotOurs => {
  // The types exclude null, but JSON does not.
  const given = ((encoded as unknown) ?? {}) as Fields;
  const inner = fieldsOf(fieldsOf(given.detail).data ?? given.data ?? given);
  return typeof inner.kind === 'string' ? checkEvent(inner) : decodeRecord(given);
};

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {};

const isSequenceNumber = (value: unknown): value is string =>
  typeof value === 'string' && /^\d+$/.test(value);

/** Checks an event that was decoded before. */
const checkEvent = (event: Fields): ExtractionEvent | NotOurs => {
  const { kind, eventId, extractionId, sequenceNumber, extraction } = event;
  if (typeof eventId !== 'string' || typeof extractionId !== 'string' || !isSequenceNumber(sequenceNumber)) {
    return notOurs(
      'It is not an event of an extraction: eventId, extractionId or sequenceNumber is missing.',
    );
  }
  if (kind !== 'erased' && kind !== 'expired') {
    const problem = problemOf(fieldsOf(extraction));
    if (problem !== undefined) return notOurs(problem);
  }
  return event as ExtractionEvent;
};

/** Why a record cannot be read, or undefined. */
const problemOf = ({ schemaVersion: version, status }: Fields): string | undefined => {
  if (version !== schemaVersion) {
    return `Its schemaVersion is not ${schemaVersion}: a newer version of this package reads it.`;
  }
  return typeof status === 'string' ? undefined : 'It has no status.';
};

/** Other inputs that a function may get by mistake, each by a field that no other input has. */
const otherSources: Readonly<Record<string, string>> = {
  kinesis: 'a Kinesis data stream',
  body: 'an SQS queue: parse its body, which is the event',
  Sns: 'an SNS topic',
  Records: 'a whole batch: pass each of its Records',
};

const sourceOf = (given: Fields): string => {
  if (Array.isArray(given))
    return ' It is a list, as EventBridge Pipes passes one: pass each of its records.';
  const [source] = Object.keys(otherSources).filter((field) => Object.hasOwn(given, field));
  return source === undefined ? '' : ` It is of ${otherSources[source]}.`;
};

const decodeRecord = (record: Fields & StreamRecord): ExtractionEvent | NotOurs => {
  const { eventID: eventId, eventName, dynamodb } = record;
  if (typeof eventId !== 'string' || typeof eventName !== 'string' || !dynamodb) {
    return notOurs(
      `It is not a record of a DynamoDB stream: eventID, eventName or dynamodb is missing.${sourceOf(record)}`,
    );
  }
  const extractionId = textIn(dynamodb.Keys, 'extractionId');
  if (extractionId === undefined) {
    return notOurs('It is from another table: its key is not extractionId.');
  }
  const sequenceNumber = dynamodb.SequenceNumber;
  // Without a sequence number, a consumer cannot order a correction and the outcome before it.
  if (!isSequenceNumber(sequenceNumber)) {
    return notOurs(
      'It has no sequence number: it is perhaps of a Kinesis data stream of the table, whose records have none. Read the stream of the table.',
    );
  }
  const change = { extractionId, eventId, sequenceNumber };
  if (eventName === 'REMOVE') return { kind: isByTimeToLive(record) ? 'expired' : 'erased', ...change };

  const { OldImage, NewImage } = dynamodb;
  const lacksImage = NewImage === undefined || (OldImage === undefined && eventName !== 'INSERT');
  if (lacksImage) return notOurs('It lacks an image: the stream must have the view type NEW_AND_OLD_IMAGES.');

  const now = asRecord(NewImage);
  if (now === undefined) return notOurs('Its new image is not in the format of DynamoDB.');
  const problem = problemOf(now);
  if (problem !== undefined) return notOurs(problem);
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
  if (now.erasingAt !== undefined && before.erasingAt === undefined) return { kind: 'erasing' } as const;
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
