import type { Tombstone } from '#lib/extraction/erase/erasure.ts';
import type { RestoredKind } from '#lib/extraction/operate/restore.ts';
import type { ReconcileMessage } from '#lib/extraction/reconcile-message.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import type { RefusalMark, StoredRequest, Task } from '#lib/extraction/store.ts';
import type { StoredEntry } from '#lib/rate-limit/start-line.ts';
import type { Execution, LogLine } from '../../../tools/cli/explain/sources.ts';
import type { Process } from './process.ts';

/** The events that invariants check. */
export type Facts = {
  /** A record of `Extractions` was written; `before` is undefined for a new one. */
  record: {
    readonly before: Extraction | undefined;
    readonly after: Extraction;
    readonly by: Process | undefined;
  };
  /** An item of `Tasks` was written. */
  taskItem: { readonly before: Task | undefined; readonly after: Task };
  /** An item of `Refusals` was written. */
  mark: { readonly before: RefusalMark | undefined; readonly after: RefusalMark };
  /** An item of `Requests` was removed. */
  requestRemoved: { readonly item: StoredRequest };
  /** The item of a start in the line was written, or removed. */
  lineItem: {
    readonly before: StoredEntry | undefined;
    readonly after: StoredEntry | undefined;
    readonly by: Process | undefined;
  };
  /** A start call is about to be made, with the data of this request. */
  startCall: { readonly by: Process; readonly requestId: string };
  /** A login, or a call for a Task Token, is about to be made. */
  logIn: { readonly by: Process };
  /** An answer of the provider was over the size limit. */
  oversized: { readonly by: Process | undefined };
  /** SendTaskSuccess was called. */
  wake: { readonly by: Process; readonly from: 'webhook' | 'start-task' };
  /** A sweep sends a message for a record that it has leased. */
  sweepSends: { readonly by: Process };
  /** The queue accepted a message. */
  sent: { readonly message: ReconcileMessage; readonly by: Process | undefined; readonly isSlow: boolean };
  /** A process has consumed a message, which is deleted. */
  consumed: { readonly by: Process };
  /** A process begins to read the provider. */
  read: { readonly by: Process };
  /** The provider is called to read the task. `read` may have been held before. */
  providerRead: { readonly by: Process };
  /** Results are stored. */
  storing: { readonly by: Process };
  /** The state StartTask waited for its callback token until its timeout. */
  waitedOut: { readonly token: string };
  /** A try of Reconcile has ended, or its execution did. */
  pollOver: { readonly seconds: number };
  /** An execution was started. */
  executionStarted: Readonly<Record<string, never>>;
  /** The caller's request was answered. */
  answered: {
    readonly answer: 'accepted' | 'replayed' | 'key-reused' | 'key-reused-often';
    readonly fingerprint: string;
  };
  /** A tombstone was written. */
  tombstone: { readonly before: Tombstone | undefined; readonly after: Tombstone };
  /** An erasure has deleted this record. */
  removed: { readonly record: Extraction; readonly by: Process };
  /** A restore has judged this record of a backup. */
  copied: { readonly record: Extraction; readonly kind: RestoredKind };
  /** A metric with an alarm was counted for a delivery. */
  alarmed: { readonly metric: string; readonly taskId: string };
  /** Step Functions wrote an event into the history of the execution. */
  history: Execution['events'][number];
  /** A function logged a line. */
  logged: LogLine & { readonly by: Process | undefined };
  /** The schedule is over. `endless` if it was cut off. */
  end: { readonly endless: boolean };
};

export type FactKind = keyof Facts;
