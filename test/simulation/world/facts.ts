import type { Extraction } from '../../../lib/extraction/record.ts';
import type { WakeOutcome } from '../../../lib/extraction/record-delivery.ts';
import type { Task } from '../../../lib/extraction/store.ts';
import type { Process } from './process.ts';

/** What happened in the world that an invariant may have a word about. */
export type Facts = {
  /** A row of `Extractions` was written; `before` is undefined for a new one. */
  row: {
    readonly before: Extraction | undefined;
    readonly after: Extraction;
    readonly by: Process | undefined;
  };
  /** A row of `Tasks` was written. */
  taskRow: { readonly before: Task | undefined; readonly after: Task };
  /** A start call is about to leave, with the request that `sealed` is the ciphertext of. */
  startCall: { readonly extractionId: string; readonly by: Process; readonly sealed: string };
  /** An answer of the provider was over the cap. */
  oversized: { readonly by: Process | undefined };
  /** Step Functions was told to go on. */
  wake: {
    readonly extractionId: string;
    readonly outcome: WakeOutcome;
    readonly by: Process | undefined;
    readonly from: 'webhook' | 'start-task';
  };
  /** A sweep begins with a record that it has claimed. */
  sweepReconciles: { readonly extractionId: string; readonly by: Process };
  /** The state StartTask waited for its token until its timeout. */
  waitedOut: { readonly extractionId: string; readonly token: string };
  /** An execution was begun. */
  executionStarted: { readonly extractionId: string };
  /** The caller's request was answered. */
  answered: {
    readonly extractionId: string;
    readonly answer: 'accepted' | 'replayed' | 'key-reused';
    readonly fingerprint: string;
  };
  /** Nothing more will happen. */
  end: { readonly endless: boolean };
};

export type FactKind = keyof Facts;
