import type { Situation } from './reconcile.ts';
import type { ExtractionStatus } from './record.ts';

/** What reconcile-extraction is invoked with: by the machine's state Reconcile, the rule for broken executions, or an operator. */
export type ReconcileEvent =
  | {
      readonly trigger: 'machine';
      readonly extractionId: string;
      readonly startGaveUp: boolean;
      /** Of an extraction by consent. Base64, as `ExecutionInput.sealedCredentials`. */
      readonly sealedTarget: string | null;
    }
  | { readonly trigger: 'execution-broken'; readonly extractionId: string }
  | { readonly trigger: 'operator'; readonly extractionId: string };

/** What it answers about one extraction. */
export type ReconcileAnswer = {
  readonly extractionId: string;
  readonly status: ExtractionStatus | 'GONE';
  /** Not closed: the machine, or the sweep, goes on with it. */
  readonly handedOver: boolean;
};

/**
 * Who asks decides only what may be given up. An operator who wants it looked at knows no more than the sweep does:
 * as "execution-broken", a look would give up a start that is going on.
 */
export const situationOf = (event: ReconcileEvent): Situation => {
  switch (event.trigger) {
    case 'machine':
      return { caller: 'machine', startGaveUp: event.startGaveUp };
    case 'execution-broken':
      return { caller: 'execution-broken' };
    case 'operator':
      return { caller: 'sweep' };
  }
};
