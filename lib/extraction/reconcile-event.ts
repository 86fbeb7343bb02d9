import type { ReconcileCaller } from './reconcile.ts';
import type { ExtractionStatus } from './record.ts';

/** What reconcile-extraction is invoked with: by the machine's state Reconcile, the rule for broken executions, or an operator. */
export type ReconcileEvent =
  | {
      readonly trigger: 'machine';
      readonly extractionId: string;
      readonly startAbandoned: boolean;
      /** Of an extraction by consent. Base64, as `ExecutionInput.sealed`. */
      readonly sealedTarget: string | null;
    }
  | { readonly trigger: 'execution-broken'; readonly extractionId: string }
  | { readonly trigger: 'operator'; readonly extractionId: string };

/** What it answers about one extraction. */
export type ReconcileAnswer = {
  readonly extractionId: string;
  readonly status: ExtractionStatus | 'GONE';
  /** Not closed: the machine, or the sweep, goes on with it. */
  readonly deferred: boolean;
};

/**
 * Who asks decides only what may be abandoned. An operator who wants it looked at knows no more than the sweep does:
 * as "execution-broken", a look would give up a start that is going on.
 */
export const reconcileCallerOf = (event: ReconcileEvent): ReconcileCaller => {
  switch (event.trigger) {
    case 'machine':
      return { kind: 'machine', startAbandoned: event.startAbandoned };
    case 'execution-broken':
      return { kind: 'execution-broken' };
    case 'operator':
      return { kind: 'sweep' };
  }
};
