import type { ReconcileCaller, ReconcileResult } from './reconcile.ts';
import type { ExtractionStatus } from './record.ts';

/**
 * The event of reconcile-extraction. It comes from the machine, from the rule for broken executions, or from an
 * operator.
 */
export type ReconcileEvent =
  | {
      readonly trigger: 'machine';
      readonly extractionId: string;
      readonly startAbandoned: boolean;
      /** Of an extraction by consent: base64, as `ExecutionInput.sealed`. */
      readonly sealedTarget: string | null;
    }
  | { readonly trigger: 'execution-broken'; readonly extractionId: string }
  | { readonly trigger: 'operator'; readonly extractionId: string };

/** The answer of reconcile-extraction. */
export type ReconcileAnswer = {
  readonly extractionId: string;
  readonly status: ExtractionStatus | 'GONE';
  /** The record is not closed yet, and the sweep continues. */
  readonly deferred: boolean;
};

/**
 * The caller in the domain's terms, which decide only whether a start may be abandoned. An operator counts as the sweep:
 * nobody has established that the execution is broken, so a start in progress must continue.
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

/** Thrown to the machine only, whose Retry is the poll. The function's Errors metric therefore counts polls. */
export class NotYet extends Error {
  override readonly name = 'NotYet';

  constructor(message: string) {
    super(message);
    // The runtime logs the stack with every poll. It is always the same, and would be most of the line.
    this.stack = `${this.name}: ${message}`;
  }
}

/** Returns the answer to the caller. Throws NotYet if the machine has to invoke the function again. */
export const answerReconcile = (
  extractionId: string,
  result: ReconcileResult,
  caller: ReconcileCaller['kind'],
): ReconcileAnswer => {
  if (result.kind === 'gone') return { extractionId, status: 'GONE', deferred: false };
  if (result.kind === 'not-yet' && caller === 'machine') throw new NotYet(result.why);
  return { extractionId, status: result.record.status, deferred: result.kind !== 'closed' };
};
