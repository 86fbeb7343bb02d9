import { defined } from '../../defined.ts';
import type { WakeOutcome } from '../record-delivery.ts';
import type { Result } from '../run.ts';
import { type StartDeps, type StartInput, start } from './start.ts';

export type StartForMachineDeps = Omit<StartDeps, 'msLeft'> & {
  /** Answers the callback token with success, which ends the execution. */
  readonly wake: (callbackToken: string, extractionId: string) => Promise<WakeOutcome>;
  /**
   * Fails the state with an error name. `cause` is one of the public codes or a fixed sentence. The history
   * shows it, and the machine hands the last one to Reconcile.
   */
  readonly fail: (callbackToken: string, error: string, cause: string) => Promise<void>;
};

/** The errors that are counted here. A held start is counted by the breaker, and credentials encrypted too early are no failure. */
const countedRetries = [
  'ProviderBusy',
  'ProviderUnreachable',
  'ProviderUnauthorized',
  'RequestDataGone',
] as const;

/** Answers the callback token, unless the execution has to wait for the webhook. The queue has what else is left. */
const answerMachine = async (
  { callbackToken, extractionId }: StartInput,
  { as, why = 'StartFailed', problem = 'The start can be retried.' }: Result,
  { telemetry, wake, fail }: StartForMachineDeps,
): Promise<void> => {
  if (as === 'waiting') return;
  if (as !== 'not-yet') {
    await wake(callbackToken, extractionId);
    return;
  }
  const counted = countedRetries.find((metric) => metric === why);
  if (counted !== undefined) telemetry.count(counted);
  if (problem === 'quota-reached') telemetry.count('QuotaReached');
  await fail(callbackToken, why, problem);
};

/**
 * One invocation of start-task: starts, and reports to the machine (design, section 5). Returns the result, or undefined
 * if the start failed. A failure is reported through the callback token instead of thrown, because the name of a thrown
 * error depends on the runtime. Throws only if that report fails.
 */
export const startForMachine = async (
  input: StartInput,
  deps: StartForMachineDeps,
): Promise<Result | undefined> => {
  const endsAt = deps.now().getTime() + deps.timings.startTimeout * 1_000;
  const msLeft = (): number => endsAt - deps.now().getTime();
  try {
    const result = await start(input, { ...deps, msLeft });
    const { as, why, problem, record } = result;
    // Otherwise the report of the start has it.
    if (as !== 'waiting') {
      deps.telemetry.log('Start finished.', {
        outcome: as,
        ...defined({ why, problem, status: record?.status }),
      });
    }
    await answerMachine(input, result, deps);
    return result;
  } catch (error) {
    deps.telemetry.failure('The start failed.', error);
    await deps.fail(input.callbackToken, 'StartFailed', 'See the log of start-task.');
    return undefined;
  }
};
