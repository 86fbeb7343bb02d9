import type { WakeOutcome } from './record-delivery.ts';
import { type StartDeps, type StartInput, type StartOutcome, start } from './start.ts';

export type StartForMachineDeps = StartDeps & {
  /** Answers the token: the machine goes on to Reconcile. */
  readonly wake: (callbackToken: string, extractionId: string) => Promise<WakeOutcome>;
  /** Fails the state under a name that the machine retries. `cause` is a fixed sentence: it stands in the history. */
  readonly fail: (callbackToken: string, error: string, cause: string) => Promise<void>;
  /** Told how the start ended, for the log. */
  readonly onFinished: (outcome: StartOutcome) => void;
  /** Told of the failure that the start broke off with, for the log. */
  readonly onError: (error: unknown) => void;
};

/** Tells the machine, through the token, what it cannot wait for. */
const answerMachine = async (
  { callbackToken, extractionId }: StartInput,
  outcome: StartOutcome,
  { wake, fail }: StartForMachineDeps,
): Promise<void> => {
  switch (outcome.kind) {
    case 'waiting':
      return;
    case 'polling':
    case 'settled':
      await wake(callbackToken, extractionId);
      return;
    case 'retry':
      await fail(callbackToken, outcome.error, 'The start can be retried.');
  }
};

/**
 * One invocation of start-task: starts, and tells the machine (design, section 5). A failure of ours is reported
 * through the token too, whose names hold, rather than thrown: what a function throws reaches the machine under
 * names that depend on its runtime. Throws only where even that report fails.
 */
export const startForMachine = async (input: StartInput, deps: StartForMachineDeps): Promise<void> => {
  try {
    const outcome = await start(input, deps);
    deps.onFinished(outcome);
    await answerMachine(input, outcome, deps);
  } catch (error) {
    deps.onError(error);
    await deps.fail(input.callbackToken, 'StartFailed', 'See the log of start-task.');
  }
};
