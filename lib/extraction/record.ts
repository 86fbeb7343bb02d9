import type { BreakerSubject } from '../breaker/breaker-state.ts';
import {
  isTerminalTaskStatus,
  type ProductType,
  type TerminalTaskStatus,
  terminalTaskStatuses as terminalStatuses,
} from '../provider/vocabulary.ts';

/** The final statuses of the provider. An extraction takes the final status of its task. */
export {
  isTerminalTaskStatus as isTerminalStatus,
  type TerminalTaskStatus as TerminalStatus,
  terminalTaskStatuses as terminalStatuses,
} from '../provider/vocabulary.ts';

/** Cosecha's own outcomes, if the provider reports no final status (design, section 3). */
export const ownOutcomes = ['REJECTED', 'UNCONFIRMED', 'NOT_STARTED', 'TIMED_OUT'] as const;

export type OwnOutcome = (typeof ownOutcomes)[number];
export const openStatuses = ['REQUESTED', 'STARTING', 'RUNNING'] as const;

export type OpenStatus = (typeof openStatuses)[number];
export type ExtractionStatus = OpenStatus | TerminalTaskStatus | OwnOutcome;

// Exported, so that the published schemas define it once.
/**
 * ISO 8601 in UTC with milliseconds, so that it sorts as text.
 *
 * @pattern ^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$
 */
export type Timestamp = string;

/** One action as the caller requested it. It contains dates only, so it may be stored and shown. */
export type RequestedAction = {
  readonly id: string;
  readonly params?: { readonly dateRange: { readonly startDate: string; readonly endDate: string } };
};

/** The outcome of one action. Output and message are left out, because they contain bank data and free text. */
export type ActionResult = {
  readonly id: string;
  readonly status: string;
  readonly errorCode?: string;
};

export type StoredResults = {
  readonly bucket: string;
  readonly key: string;
  readonly bytes: number;
  /** Lower-case hex of the stored bytes. */
  readonly sha256: string;
};

/** The part of the service that wrote the outcome. */
export type SettledBy = 'webhook' | 'start' | 'reconcile';

// `advice.ts` has the meaning of each, and what it follows from.
export type Advice =
  | 'none'
  | 'wait'
  | 'ask-user'
  | 'renew-consent'
  | 'fix-request'
  | 'request-again'
  | 'request-later'
  | 'ask-provider'
  | 'operator';

/** A request with the user's credentials: a v2 task. */
export type CredentialsMethod = {
  readonly method: 'credentials';
  readonly entity: string;
  readonly actions: readonly RequestedAction[];
};

/** "v1 consent-based task", or its v2 variant. */
export type ConsentVariant = 'v1' | 'v2';

/**
 * A request under the user's consent: one product. The target, which identifies the user, is sealed and not part of
 * it.
 */
export type ConsentMethod = {
  readonly method: 'consent';
  readonly product: ProductType;
  readonly consentId: string;
  readonly variant: ConsentVariant;
};

/** The longest reference or batch, in code points. A key of an index may have 2,048 bytes, and a code point has at most four. */
export const maxNameLength = 256;

/** The attributes that both methods have. */
type Progress = {
  readonly schemaVersion: 1;
  readonly extractionId: string;
  /** The caller's own name for the request, at most 256 characters. */
  readonly reference?: string;
  /** The caller's own name for a batch of requests, at most 256 characters. */
  readonly batch?: string;
  /** No person waits for the outcome, so its start has a lane of its own. Absent: `interactive`. */
  readonly priority?: 'background';
  /**
   * The caller's position in its trace, in the format of W3C Trace Context, version 00. A consumer continues the trace from it.
   *
   * @pattern ^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$
   */
  readonly traceparent?: string;
  /** ARN of the IAM user or role that made the request, without its session name. */
  readonly requestedBy: string;
  readonly requestedAt: Timestamp;
  /**
   * The id of the request that created the record, and the key of its item in `Requests`: 128 random bits. It distinguishes a repeated put
   * from another request's put.
   */
  readonly requestId: string;
  /** The provider sends no webhooks (`providerSendsWebhooks`), so the queue polls a v2 task. Never set for a consent. */
  readonly withoutWebhook?: true;
  readonly deadlineAt: Timestamp;
  readonly status: ExtractionStatus;
  readonly fingerprint: string;
  readonly attemptId?: string;
  readonly startingAt?: Timestamp;
  readonly startedAt?: Timestamp;
  readonly taskId?: string;
  readonly reason?: string;
  /**
   * Why the last try brought nothing, as a public code: the last start before it is started, and then the last read. Absent if unknown.
   * With stored results it can only be `results-incomplete`: a requested part is missing.
   */
  readonly lastProblem?: string;
  /** What the caller's code should do next. It may change after `isFinal`, because it also depends on the results. */
  readonly advice?: Advice;
  readonly settledAt?: Timestamp;
  readonly settledBy?: SettledBy;
  /**
   * The outcome never changes again. `TIMED_OUT` and `UNCONFIRMED` lack it, because a late answer of the provider can still replace them.
   */
  readonly isFinal?: true;
  readonly actionResults?: readonly ActionResult[];
  readonly results?: StoredResults;
  readonly collectedAt?: Timestamp;
  readonly collectionError?: string;
  /** When a read of the task was over the size limit. The task is not read again. */
  readonly oversizedAt?: Timestamp;
  /**
   * The provider asked by `Retry-After` to wait: after a start by a 429, after a read by a 429 or 503. No call for this extraction is made
   * before this time.
   */
  readonly notBefore?: Timestamp;
  /**
   * When the last read began: the first read after the time of the status was over. If its process ended, the record continues without a
   * read.
   */
  readonly lastReadBegunAt?: Timestamp;
  /**
   * The last read, or the store after it, failed or took too long for the reconcile queue. The slow queue reads and stores until a read is
   * answered.
   */
  readonly readsSlowly?: true;
  /**
   * When an erasure first reached it. From then on its results are neither stored nor published. Its outcome still is, and the rest is
   * erased after that.
   */
  readonly erasingAt?: Timestamp;
  /** Partition of the sparse index `due`: 0..15 while the record is open, absent once it is closed. */
  readonly dueShard?: number;
  /** When the record is due to be reconciled. From then on, the sweep queues it. */
  readonly dueAt?: Timestamp;
  readonly expiresAt?: number;
};

export type CredentialsExtraction = Progress & CredentialsMethod;
export type ConsentExtraction = Progress & ConsentMethod;

/**
 * One item of the table `Extractions`, whose stream is the public contract (design, section 3). Times are ISO 8601 UTC
 * with milliseconds, so that they sort as text. `expiresAt` is in epoch seconds, as DynamoDB's TTL requires. A record
 * never contains a credential, national id, token, username, result or webhook body.
 */
export type Extraction = CredentialsExtraction | ConsentExtraction;

/** The final status that a delivery stored in the item of a task. Undefined if there is none, or if this version does not know it. */
export const finalStatusIn = ({
  taskStatus,
}: {
  readonly taskStatus?: string | undefined;
}): TerminalTaskStatus | undefined =>
  taskStatus !== undefined && isTerminalTaskStatus(taskStatus) ? taskStatus : undefined;

const allStatuses: ReadonlySet<ExtractionStatus> = new Set([
  ...openStatuses,
  ...terminalStatuses,
  ...ownOutcomes,
]);

/** Whether this version knows the status and schema of a record. After a rollback, there may be records of the newer version. */
export const isUnderstood = ({ schemaVersion, status }: Extraction): boolean =>
  schemaVersion === 1 && allStatuses.has(status);

/** Whether the task has an item in `Tasks`, as every v2 task has. The item protects the task id, even if the provider sends no webhooks. */
export const hasTaskItem = (record: Extraction): boolean => record.method === 'credentials';

/**
 * Whether the provider reports the outcome by a webhook: "The only event is the v2 task completion webhook" ("Events"). For all other
 * extractions, only polling finds the outcome.
 */
export const hasWebhook = (record: Extraction): boolean =>
  hasTaskItem(record) && record.withoutWebhook !== true;

/** The entity, or for an extraction by consent the product, because a consent does not name its entity. */
export const entityOrProductOf = (record: Extraction): string =>
  record.method === 'consent' ? record.product : record.entity;

/**
 * The same as fields of a log line. Each line about progress has them, so that the log shows which entities are slow or fail. So no metric
 * needs a dimension for each entity.
 */
export const subjectFields = (
  record: Extraction,
): { readonly entity: string } | { readonly product: string } =>
  record.method === 'consent' ? { product: record.product } : { entity: record.entity };

/**
 * What a breaker knows about a start. A consent does not name its entity, so its group is the product. The last 8 digits of the id are
 * enough to distinguish the few failed starts of a group.
 */
export const breakerSubjectOf = (record: Extraction): BreakerSubject => ({
  extraction: record.extractionId.slice(-8),
  caller: record.requestedBy,
  group: entityOrProductOf(record),
});
