import type { Timings } from '../../../lib/extraction/deadlines.ts';
import type { Extraction } from '../../../lib/extraction/record.ts';
import type { Task } from '../../../lib/extraction/store.ts';

/** Delays that a state of the machine draws between two tries: uniform from 0 to a bound that grows up to `every`. */
export type RetryDelays = {
  readonly first: number;
  readonly every: number;
  readonly backoff: number;
};

/** The settings that decide what happens next. All in seconds. */
export type StorySettings = {
  readonly timings: Timings;
  /** For how long the machine waits for the webhook before it polls. */
  readonly webhookWait: number;
  readonly startRetry: RetryDelays;
  readonly poll: RetryDelays;
};

/** The row of `Tasks` without the callback token, which may not leave the table. */
export type TaskRow = Omit<Task, 'callbackToken'> & { readonly hasCallbackToken: boolean };

/** One event of an execution's history, without inputs and outputs. */
export type ExecutionEvent = {
  readonly at: string;
  /** The type of Step Functions, such as `TaskFailed`. */
  readonly type: string;
  /** Of the events that enter and leave a state. */
  readonly state?: string;
  readonly error?: string;
  /** The message of the error, without its stack. */
  readonly message?: string;
  /** Of a scheduled task: its timeout under the definition that this execution runs. */
  readonly timeoutSeconds?: number;
};

export type Execution = {
  readonly startedAt: string;
  readonly events: readonly ExecutionEvent[];
};

/** One line of a function's log: the fields that the functions write, and no others. */
export type LogLine = {
  readonly at: string;
  /** The function, such as `start-task`. */
  readonly service: string;
  readonly level: string;
  readonly message: string;
  /** Its other fields. `explain` shows only those that it knows. */
  readonly fields: Readonly<Record<string, unknown>>;
};

/** One stored version of results, without its content. */
export type StoredObject = {
  readonly at: string;
  readonly key: string;
  /** Absent for a delete marker. */
  readonly bytes?: number;
};

export type QueueDepth = {
  readonly queue: 'reconcile' | 'dead-letter';
  /** Visible, hidden and delayed messages. SQS counts approximately. */
  readonly messages: number;
};

/** One record of the table's stream: what it changed, without the images. */
export type StreamChange = {
  readonly at: string;
  readonly event: 'INSERT' | 'MODIFY' | 'REMOVE';
  /** DynamoDB's TTL removed the row, not an operator. */
  readonly byTtl: boolean;
  readonly before?: Extraction;
  readonly after?: Extraction;
};

/** A circuit breaker towards the provider. */
export type Breaker = {
  readonly name: 'starts' | 'reads';
  readonly state: 'closed' | 'open' | 'half-open' | 'paused';
  /** Since when it is in this state. */
  readonly since?: string;
  /** When the next probe is allowed; absent for a pause, which an operator ends. */
  readonly until?: string;
  /** What the operator gave as the reason of a pause. */
  readonly reason?: string;
};

export type Sweep = {
  readonly enabled: boolean;
  readonly everyMinutes: number;
};

export type Period = { readonly from: string; readonly to: string };

/** A part that was read only up to a limit is not `complete`. */
export type Bounded<Item> = { readonly items: readonly Item[]; readonly complete: boolean };

/**
 * The places that each know a part of a story. A method throws if its place cannot be read, for example because a
 * permission is missing. The story then names that part and shows the rest.
 */
export interface StorySources {
  settings(): Promise<StorySettings>;
  record(extractionId: string): Promise<Extraction | undefined>;
  task(taskId: string): Promise<TaskRow | undefined>;
  execution(extractionId: string): Promise<Execution | undefined>;
  /** Lines with one of the ids. */
  logs(ids: readonly string[], within: Period): Promise<Bounded<LogLine>>;
  results(extractionId: string): Promise<readonly StoredObject[]>;
  queues(): Promise<readonly QueueDepth[]>;
  /** Changes of the last 24 hours, for which DynamoDB keeps them. */
  changes(extractionId: string): Promise<Bounded<StreamChange>>;
  breakers(): Promise<readonly Breaker[]>;
  sweep(): Promise<Sweep>;
}
