/**
 * Records of the stream for the tests of a consumer, imported as `@cosecha/cosecha/testing`. Each function returns a record as
 * Lambda delivers it, with the fields that are given and typical values for all others. `decodeExtractionEvent` turns it
 * into an event, and `{ Records: [settledEvent(), collectedEvent()] }` is a batch.
 *
 * All records are of the same extraction unless `extractionId` is given. Each has an `eventID` of its own and a higher
 * `SequenceNumber` than those before it.
 *
 * @example
 * import { decodeExtractionEvent } from '@cosecha/cosecha';
 * import { settledEvent } from '@cosecha/cosecha/testing';
 *
 * const event = decodeExtractionEvent(settledEvent({ status: 'FAILED', reference: 'order-7' }));
 * console.log(event.kind === 'settled' && event.extraction.reference);
 */
import { marshall } from '@aws-sdk/util-dynamodb';
import type { Extraction, ExtractionStatus } from '../extraction/record.ts';

/** A value in the JSON of DynamoDB. Mutable, as in the types of `aws-lambda`. */
export type AttributeValue =
  | { S: string }
  | { N: string }
  | { BOOL: boolean }
  | { L: AttributeValue[] }
  | { M: Record<string, AttributeValue> };

/** A record that the types of `aws-lambda` accept as `DynamoDBRecord`. */
export type LambdaRecord = {
  eventID: string;
  eventName: 'INSERT' | 'MODIFY' | 'REMOVE';
  eventVersion: string;
  eventSource: string;
  awsRegion: string;
  userIdentity?: { type: string; principalId: string };
  dynamodb: {
    ApproximateCreationDateTime: number;
    Keys: Record<string, AttributeValue>;
    OldImage?: Record<string, AttributeValue>;
    NewImage?: Record<string, AttributeValue>;
    SequenceNumber: string;
    SizeBytes: number;
    StreamViewType: 'NEW_AND_OLD_IMAGES';
  };
  eventSourceARN: string;
};

/** The attributes of the record after the change, or before a removal. */
export type EventFields =
  | Partial<Extract<Extraction, { readonly method: 'credentials' }>>
  | Partial<Extract<Extraction, { readonly method: 'consent' }>>;

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 12, 0, second)).toISOString();

const common = {
  schemaVersion: 1,
  extractionId: '019b7940-1c00-7000-8000-000000000001',
  requestedBy: 'arn:aws:sts::111122223333:assumed-role/caller',
  requestedAt: at(0),
  requestId: 'request-1',
  deadlineAt: at(7_200),
  fingerprint: 'f'.repeat(64),
} as const;

const credentials = {
  method: 'credentials',
  entity: 'demo-bank',
  actions: [{ id: 'product-balance' }],
} as const;
const consent = {
  method: 'consent',
  product: 'movement',
  consentId: '019b7940-1c00-4000-8000-00000000000c',
  variant: 'v1',
} as const;

const open = { dueShard: 0, dueAt: at(8_100) };
const starting = { attemptId: 'attempt-1', startingAt: at(1) };
const running = { ...starting, taskId: 'task-1', startedAt: at(2) };
const closed = { expiresAt: Date.UTC(2026, 4, 1) / 1000 };
const results = { bucket: 'results', key: 'results.json', bytes: 2, sha256: '0'.repeat(64) };

/** The attributes that come with a status. A status that is not listed is a final status of the provider. */
const withStatus: Partial<Record<ExtractionStatus, Partial<Extraction>>> = {
  REQUESTED: open,
  STARTING: { ...open, ...starting },
  RUNNING: { ...open, ...running },
  TIMED_OUT: {
    ...open,
    ...running,
    settledAt: at(7_200),
    settledBy: 'reconcile',
    reason: 'deadline-passed',
    lastProblem: 'still-running',
    advice: 'wait',
  },
  UNCONFIRMED: {
    ...closed,
    ...starting,
    settledAt: at(91),
    settledBy: 'reconcile',
    reason: 'start-interrupted',
    advice: 'ask-provider',
  },
  REJECTED: {
    ...closed,
    ...starting,
    settledAt: at(2),
    settledBy: 'start',
    reason: 'http-400',
    advice: 'fix-request',
    isFinal: true,
  },
  NOT_STARTED: {
    ...closed,
    settledAt: at(900),
    settledBy: 'reconcile',
    reason: 'start-window-over',
    lastProblem: 'http-429',
    advice: 'request-later',
    isFinal: true,
  },
};
const ended: Partial<Extraction> = {
  ...open,
  ...running,
  settledAt: at(30),
  settledBy: 'webhook',
  isFinal: true,
};

/** The advice of a collected outcome. Wrong credentials have an advice before that. */
const adviceWith: Partial<Record<ExtractionStatus, Extraction['advice']>> = {
  COMPLETED: 'none',
  PARTIAL: 'request-again',
  FAILED: 'request-again',
  CREDENTIALS_WRONG: 'ask-user',
  CREDENTIALS_LOCKED: 'ask-user',
};
const adviceAtOnce = (status: ExtractionStatus): Partial<Extraction> =>
  status.startsWith('CREDENTIALS_') ? { advice: 'ask-user' } : {};

/** The status before an outcome. */
const before: Partial<Record<ExtractionStatus, ExtractionStatus>> = {
  UNCONFIRMED: 'STARTING',
  REJECTED: 'STARTING',
  NOT_STARTED: 'REQUESTED',
};

type Image = Readonly<Record<string, unknown>>;

/** The attributes of the request, which no change of a record touches. */
const requestOf = (fields: EventFields): Image => {
  const request = { ...common, ...(fields.method === 'consent' ? consent : credentials) };
  const optional = ['reference', 'batch', 'priority', 'traceparent'];
  const given = Object.entries(fields).filter(([name]) => name in request || optional.includes(name));
  return { ...request, ...Object.fromEntries(given) };
};

const imageIn = (status: ExtractionStatus, fields: EventFields): Image => ({
  ...requestOf(fields),
  ...(withStatus[status] ?? { ...ended, ...adviceAtOnce(status) }),
  status,
});

/** The attributes after the write that closes a record: nothing is due any more. */
const closing = ({ dueShard: _dueShard, dueAt: _dueAt, ...image }: Image): Image => ({ ...image, ...closed });

let records = 0;

const record = (
  before: Image | undefined,
  after: Image | undefined,
  fields: Partial<LambdaRecord> = {},
): LambdaRecord => {
  records += 1;
  const image = (attributes: Image) =>
    marshall(attributes, { removeUndefinedValues: true }) as Record<string, AttributeValue>;
  return {
    eventID: `event-${records}`,
    eventName: before === undefined ? 'INSERT' : after === undefined ? 'REMOVE' : 'MODIFY',
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: 'eu-west-1',
    ...fields,
    dynamodb: {
      ApproximateCreationDateTime: Date.UTC(2026, 0, 1, 12) / 1000 + records,
      Keys: { extractionId: { S: String((after ?? before)?.extractionId) } },
      ...(before === undefined ? {} : { OldImage: image(before) }),
      ...(after === undefined ? {} : { NewImage: image(after) }),
      // As long as DynamoDB's numbers, so that a consumer that compares them as numbers fails its tests.
      SequenceNumber: String(10n ** 24n + BigInt(records)),
      SizeBytes: 1_000,
      StreamViewType: 'NEW_AND_OLD_IMAGES',
    },
    eventSourceARN:
      'arn:aws:dynamodb:eu-west-1:111122223333:table/Extractions/stream/2026-01-01T00:00:00.000',
  };
};

export const requestedEvent = (fields: EventFields = {}): LambdaRecord =>
  record(undefined, { ...imageIn('REQUESTED', fields), ...fields });

/** To `RUNNING`, unless another `status` is given. */
export const progressedEvent = (fields: EventFields = {}): LambdaRecord => {
  const { status = 'RUNNING' } = fields;
  const from = status === 'STARTING' ? 'REQUESTED' : 'STARTING';
  return record(imageIn(from, fields), { ...imageIn(status, fields), ...fields });
};

/** `COMPLETED`, unless another `status` is given. */
export const settledEvent = (fields: EventFields = {}): LambdaRecord => {
  const { status = 'COMPLETED' } = fields;
  return record(imageIn(before[status] ?? 'RUNNING', fields), { ...imageIn(status, fields), ...fields });
};

/** From `TIMED_OUT` to `COMPLETED`, unless another `status` is given. */
export const correctedEvent = (fields: EventFields = {}): LambdaRecord =>
  record(imageIn('TIMED_OUT', fields), {
    ...imageIn(fields.status ?? 'COMPLETED', fields),
    settledAt: at(7_300),
    ...fields,
  });

/** From `UNCONFIRMED` back to `RUNNING`. */
export const reopenedEvent = (fields: EventFields = {}): LambdaRecord =>
  record(imageIn('UNCONFIRMED', fields), { ...imageIn('RUNNING', fields), ...fields });

const collected = (fields: EventFields): Image => {
  const { status = 'COMPLETED' } = fields;
  const settled = imageIn(status, fields);
  return { ...closing(settled), collectedAt: at(31), results, advice: adviceWith[status], ...fields };
};

export const collectedEvent = (fields: EventFields = {}): LambdaRecord =>
  record(imageIn(fields.status ?? 'COMPLETED', fields), collected(fields));

/** `results-too-large`, unless another `collectionError` is given. */
export const notCollectedEvent = (fields: EventFields = {}): LambdaRecord => {
  const { status = 'COMPLETED' } = fields;
  const settled = imageIn(status, fields);
  const { advice = 'fix-request' } = adviceAtOnce(status);
  return record(settled, { ...closing(settled), collectionError: 'results-too-large', advice, ...fields });
};

/** The grace of `TIMED_OUT` is over: `wait` becomes `ask-provider`. */
export const advisedEvent = (fields: EventFields = {}): LambdaRecord => {
  const waiting = imageIn('TIMED_OUT', fields);
  return record(waiting, { ...closing(waiting), advice: 'ask-provider', ...fields });
};

/** An erasure was requested. `RUNNING`, unless another `status` is given. */
export const erasingEvent = (fields: EventFields = {}): LambdaRecord => {
  const image = { ...imageIn(fields.status ?? 'RUNNING', fields), ...fields };
  return record(image, { ...image, erasingAt: at(20) });
};

/** Another `dueAt`. */
export const housekeepingEvent = (fields: EventFields = {}): LambdaRecord => {
  const image = { ...imageIn(fields.status ?? 'COMPLETED', fields), ...fields };
  return record(image, { ...image, dueAt: at(9_000) });
};

/** A collected extraction, unless other attributes are given. */
export const restoredEvent = (fields: EventFields = {}): LambdaRecord => record(undefined, collected(fields));

/** An operator deleted the record. */
export const erasedEvent = (fields: EventFields = {}): LambdaRecord => record(collected(fields), undefined);

/** Time to live deleted the record. */
export const expiredEvent = (fields: EventFields = {}): LambdaRecord =>
  record(collected(fields), undefined, {
    userIdentity: { type: 'Service', principalId: 'dynamodb.amazonaws.com' },
  });
