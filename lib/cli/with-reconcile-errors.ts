import { ReconcileFailed } from './aws/reconcile-function.ts';
import { CliError } from './errors.ts';

/** Waits for reconcile-extraction, or sweep-extractions. @throws Problem with its own sentence where it failed as a whole */
export const withReconcileErrors = async <Answer>(call: () => Promise<Answer>): Promise<Answer> => {
  try {
    return await call();
  } catch (cause) {
    if (cause instanceof ReconcileFailed) throw new CliError(cause.message, { cause });
    throw cause;
  }
};
