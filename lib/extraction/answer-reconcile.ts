import type { ReconcileCaller, ReconcileResult } from './reconcile.ts';
import type { ReconcileAnswer } from './reconcile-event.ts';

/** Thrown only to the machine, whose Retry is the poll: so this function's Errors metric is expected. */
export class NotYet extends Error {
  override readonly name = 'NotYet';

  constructor(message: string) {
    super(message);
    // The runtime logs what is thrown, and every poll throws: where from is always here, and is most of the line.
    this.stack = `${this.name}: ${message}`;
  }
}

/** Returns when there is nothing left to do for the caller; throws NotYet to a machine that has to come again. */
export const answerReconcile = (
  extractionId: string,
  reconciled: ReconcileResult,
  caller: ReconcileCaller['kind'],
): ReconcileAnswer => {
  if (reconciled.kind === 'gone') return { extractionId, status: 'GONE', deferred: false };
  if (reconciled.kind === 'not-yet' && caller === 'machine') throw new NotYet(reconciled.why);
  return { extractionId, status: reconciled.record.status, deferred: reconciled.kind !== 'closed' };
};
