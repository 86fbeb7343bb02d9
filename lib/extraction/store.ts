import type { Extraction } from './record.ts';
import type { Change } from './transitions.ts';

export type ApplyResult =
  | { readonly applied: true; readonly record: Extraction }
  /** The condition did not hold. `record` is the row as it stood, or undefined where there is none. */
  | { readonly applied: false; readonly record: Extraction | undefined };

/**
 * The table `Extractions`, as the domain needs it. Reads are strongly consistent. Every method may throw
 * when the store is down, before or after the write took effect; callers treat a throw as "unknown".
 */
export interface ExtractionStore {
  create(
    record: Extraction,
  ): Promise<{ readonly created: true } | { readonly created: false; readonly record: Extraction }>;
  get(extractionId: string): Promise<Extraction | undefined>;
  apply(change: Change): Promise<ApplyResult>;
  /** Keys of one shard whose `dueAt` is not after `now`, oldest first. Eventually consistent. */
  due(shard: number, now: Date, limit: number): Promise<readonly string[]>;
}

/** One row of the private table `Tasks`: where start-task (link) and the webhook (notify) meet. */
export type Task = {
  readonly taskId: string;
  readonly extractionId?: string;
  readonly callbackToken?: string;
  /** Rises with every retry and redrive of the state StartTask, so that an older token never wins. */
  readonly callbackAttempt?: number;
  readonly taskStatus?: string;
  readonly notifiedAt?: string;
};

export type TaskLink = {
  readonly taskId: string;
  readonly extractionId: string;
  readonly callbackToken: string;
  readonly callbackAttempt: number;
};

export type TaskNotice = {
  readonly taskId: string;
  readonly taskStatus: string;
  readonly notifiedAt: string;
};

export interface TaskStore {
  /**
   * L: leaves the callback token, if the task is unlinked, or linked to the same extraction, by no younger
   * attempt or without a token. Either way the row as it stands now is returned, with the status a webhook may have left.
   */
  link(link: TaskLink): Promise<{ readonly linked: boolean; readonly task: Task }>;
  /** W: keeps the first terminal status and returns the row, with the link start-task may have left. */
  notify(notice: TaskNotice): Promise<Task>;
  /**
   * A: links a task that start-task did not come to link, without a token, so that W finds its extraction. A link
   * that is there stays, whosever it is. Returns the row as it stands now.
   */
  adopt(taskId: string, extractionId: string): Promise<Task>;
  /** Strongly consistent. */
  get(taskId: string): Promise<Task | undefined>;
}
