import { defined } from '../../defined.ts';
import type { SendReconcile } from '../reconcile-message.ts';
import type { WakeOutcome } from '../record-delivery.ts';
import { type StartDeps, type StartInput, type StartOutcome, start } from './start.ts';
import type { RetryableStartError } from './start-answer.ts';

export type StartForMachineDeps = StartDeps & {
  readonly send: SendReconcile;
  /** Answers the callback token with success, which ends the execution. */
  readonly wake: (callbackToken: string, extractionId: string) => Promise<WakeOutcome>;
  /**
   * Fails the state with an error name that the machine retries. `cause` is a fixed sentence, as the history shows it.
   */
  readonly fail: (callbackToken: string, error: string, cause: string) => Promise<void>;
};

/**
 * Answers the callback token, unless the execution has to wait for the webhook. Before the execution ends, the queue has what
 * is left: if the message cannot be sent, the start fails, and the machine retries it.
 */
const answerMachine = async (
  { callbackToken, extractionId }: StartInput,
  outcome: StartOutcome,
  { send, wake, fail }: StartForMachineDeps,
): Promise<void> => {
  switch (outcome.kind) {
    case 'waiting':
      return;
    case 'queued': {
      const { cause, dueAt, delaySeconds } = outcome;
      await send({ extractionId, ...defined({ cause, dueAt }) }, delaySeconds);
      await wake(callbackToken, extractionId);
      return;
    }
    case 'settled':
      await wake(callbackToken, extractionId);
      return;
    case 'retry':
      await fail(callbackToken, outcome.error, 'The start can be retried.');
  }
};

/** Counts why the provider did not get the start. The breaker has counted `ProviderPaused`, and a late caller is no failure. */
const countRetry = (error: RetryableStartError, { telemetry }: StartForMachineDeps): void => {
  const isCounted =
    error !== 'StartInProgress' && error !== 'ProviderPaused' && error !== 'CiphertextExpired';
  if (isCounted) telemetry.count(error);
};

/**
 * One invocation of start-task: starts, and reports to the machine (design, section 5). Returns the outcome, or undefined
 * if the start failed. A failure is reported through the callback token instead of thrown, because the name of a thrown
 * error depends on the runtime. Throws only if that report fails.
 */
export const startForMachine = async (
  input: StartInput,
  deps: StartForMachineDeps,
): Promise<StartOutcome | undefined> => {
  try {
    const outcome = await start(input, deps);
    // Otherwise the report of the start has it.
    if (outcome.kind !== 'waiting') deps.telemetry.log('Start finished.', { ...outcome });
    if (outcome.kind === 'retry') countRetry(outcome.error, deps);
    await answerMachine(input, outcome, deps);
    return outcome;
  } catch (error) {
    deps.telemetry.failure('The start failed.', error);
    await deps.fail(input.callbackToken, 'StartFailed', 'See the log of start-task.');
    return undefined;
  }
};
