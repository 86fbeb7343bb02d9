import type { Timings } from '#lib/extraction/deadlines.ts';
import { dueShardOf } from '#lib/extraction/due.ts';
import type {
  ConsentExtraction,
  CredentialsExtraction,
  Extraction,
  ExtractionStatus,
} from '#lib/extraction/record.ts';

/** Typical timings, in seconds. They are not the defaults of `infra/settings/settings.ts`. */
export const timings: Timings = {
  startWindow: 900,
  maxWait: 21_600,
  startTimeout: 60,
  reconcileTimeout: 120,
  deadline: 7_200,
  machineSlack: 900,
  pollEvery: 120,
  pollFirst: 5,
  collectFor: 86_400,
  resultsLag: 600,
  grace: 86_400,
  recordRetention: 10_368_000,
};

const origin = Date.parse('2026-03-01T12:00:00.000Z');

/** The time so many seconds after the `requestedAt` of all fixtures. */
export const at = (seconds: number): Date => new Date(origin + seconds * 1000);
export const iso = (seconds: number): string => at(seconds).toISOString();

/** A clock that moves only by `set` and `advance`. */
export const clock = (seconds = 0) => {
  let now = seconds;
  return {
    now: () => at(now),
    set: (to: number) => {
      now = to;
    },
    advance: (by: number) => {
      now += by;
    },
  };
};

/** The id of the extraction with this number. */
export const idOf = (number: number): string => `0190a0b0-0000-7000-8000-${String(number).padStart(12, '0')}`;

export const id = idOf(1);

const requested = {
  schemaVersion: 1,
  extractionId: id,
  requestedBy: 'arn:aws:sts::111122223333:assumed-role/Caller',
  requestedAt: iso(0),
  requestId: 'request-1',
  deadlineAt: iso(timings.deadline),
  status: 'REQUESTED',
  fingerprint: 'f'.repeat(64),
  dueShard: dueShardOf(id),
  dueAt: iso(timings.startWindow),
} as const;

/** A REQUESTED record, with these fields. */
export const extraction = (fields: Partial<CredentialsExtraction> = {}): CredentialsExtraction => ({
  ...requested,
  method: 'credentials',
  entity: 'bank',
  actions: [{ id: 'product-balance' }],
  ...fields,
});

export const consentId = '0190a0b0-0000-4000-8000-00000000000c';

/** A REQUESTED record by consent, with these fields. */
export const consentExtraction = (fields: Partial<ConsentExtraction> = {}): ConsentExtraction => ({
  ...requested,
  method: 'consent',
  product: 'movement',
  consentId,
  variant: 'v1',
  ...fields,
});

const started = { attemptId: 'attempt-1', startingAt: iso(1) };
const running = { ...started, startedAt: iso(2), taskId: 'task-1' };

const without = <Record extends Extraction>(
  record: Record,
  ...fields: readonly (keyof Extraction)[]
): Record =>
  Object.fromEntries(
    Object.entries(record).filter(([field]) => !fields.includes(field as keyof Extraction)),
  ) as unknown as Record;

/** A closed record, with these fields. */
export const closedExtraction = (fields: Partial<CredentialsExtraction>): CredentialsExtraction =>
  without(extraction({ settledAt: iso(30), expiresAt: 1, ...fields }), 'dueShard', 'dueAt');

/** The fields of each status but the final ones of the provider. */
const fieldsIn: Readonly<Partial<Record<ExtractionStatus, Partial<CredentialsExtraction>>>> = {
  REQUESTED: {},
  STARTING: { ...started, dueAt: iso(181) },
  RUNNING: { ...running, dueAt: iso(8_100) },
  TIMED_OUT: {
    ...running,
    reason: 'deadline-passed',
    settledAt: iso(7_200),
    settledBy: 'reconcile',
    dueAt: iso(7_320),
  },
  REJECTED: { ...started, reason: 'http-400', settledBy: 'start', isFinal: true },
  UNCONFIRMED: { ...started, reason: 'start-interrupted', settledBy: 'reconcile' },
  NOT_STARTED: { reason: 'start-abandoned', settledBy: 'reconcile', isFinal: true },
};
const finalFields = {
  ...running,
  settledAt: iso(30),
  settledBy: 'webhook',
  isFinal: true,
  dueAt: iso(330),
} as const;

/** A record in a status. With a final status of the provider it is not yet collected. */
export const extractionIn = (
  status: ExtractionStatus,
  fields: Partial<CredentialsExtraction> = {},
): CredentialsExtraction => {
  const isClosed = ['REJECTED', 'UNCONFIRMED', 'NOT_STARTED'].includes(status);
  const record = { status, ...(fieldsIn[status] ?? finalFields), ...fields };
  return isClosed ? closedExtraction(record) : extraction(record);
};

/** A record by consent in a status. */
export const consentIn = (
  status: ExtractionStatus,
  fields: Partial<ConsentExtraction> = {},
): ConsentExtraction => {
  const { method: _method, entity: _entity, actions: _actions, ...progress } = extractionIn(status);
  const { method, product, variant } = consentExtraction();
  return { ...progress, method, product, consentId, variant, ...fields };
};

/** Every status a record may have. */
export const allStatuses: readonly ExtractionStatus[] = [
  'REQUESTED',
  'STARTING',
  'RUNNING',
  'COMPLETED',
  'PARTIAL',
  'FAILED',
  'CREDENTIALS_WRONG',
  'CREDENTIALS_LOCKED',
  'REJECTED',
  'UNCONFIRMED',
  'NOT_STARTED',
  'TIMED_OUT',
];
