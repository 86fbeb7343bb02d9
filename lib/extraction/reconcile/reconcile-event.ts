import type { ExtractionStatus } from '../record.ts';
import type { ReconcileCaller, ReconcileResult } from './steps.ts';

/** The event of a direct invocation of reconcile-extraction: by the machine, or by an operator. */
export type ReconcileEvent =
  | {
      readonly trigger: 'machine';
      readonly extractionId: string;
      readonly afterFailure?: boolean;
    }
  | { readonly trigger: 'operator'; readonly extractionId: string };

/** The answer of reconcile-extraction. */
export type ReconcileAnswer = {
  readonly extractionId: string;
  readonly status: ExtractionStatus | 'GONE';
  /** The record is not closed yet. The queue continues, or the sweep. */
  readonly deferred: boolean;
};

/** Who called, in the domain's terms. */
export const reconcileCallerOf = (event: ReconcileEvent): ReconcileCaller =>
  event.trigger === 'machine'
    ? { kind: 'machine', afterFailure: event.afterFailure === true }
    : { kind: 'operator' };

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
