import {
  extractionMachineDefinition,
  type MachineDefinition,
} from '../../../infra/extraction-machine-definition.ts';
import type { ExecutionInput } from '../../../lib/extraction/api/request-extraction.ts';
import { ProcessEnded } from './process.ts';
import type { Service } from './service.ts';
import { settings } from './settings.ts';

/** The definition that is deployed. */
const machine = extractionMachineDefinition(settings, { startTask: 'start', reconcile: 'reconcile' });

type Retrier = MachineDefinition['States']['StartTask']['Retry'][number];

/** The pauses of one state of one execution. */
const retriesOf = (retriers: readonly Retrier[], of: string, { chances }: Service) => {
  const tried = retriers.map(() => 0);
  /** The milliseconds until the next attempt, or undefined if the state fails. */
  return (error: string): number | undefined => {
    const index = retriers.findIndex(({ ErrorEquals }) =>
      [error, 'States.ALL', ...(error === 'States.Timeout' ? [] : ['States.TaskFailed'])].some((name) =>
        ErrorEquals.includes(name),
      ),
    );
    const retrier = retriers[index];
    const times = tried[index] ?? 0;
    if (retrier === undefined || times >= retrier.MaxAttempts) return undefined;
    tried[index] = times + 1;
    const most = retrier.MaxDelaySeconds ?? retrier.IntervalSeconds;
    const pause = 1_000 * Math.min(retrier.IntervalSeconds * retrier.BackoffRate ** times, most);
    return retrier.JitterStrategy === 'FULL' ? chances.milliseconds(of, pause, 0) : pause;
  };
};

const errorOf = (error: unknown): string => (error instanceof ProcessEnded ? error.message : 'Error');

/** StartTask: resolves once its callback token is answered with success, or the state has failed. */
const startTask = async (input: ExecutionInput, service: Service): Promise<'succeeded' | 'failed'> => {
  const { StartTask } = machine.States;
  const { extractionId } = input;
  const retry = retriesOf(StartTask.Retry, extractionId, service);
  for (let attempt = 0; ; attempt += 1) {
    const token = `${extractionId}/${attempt}`;
    const answered = service.waitFor(token, (StartTask.TimeoutSeconds ?? 0) * 1_000);
    service
      .invoke('start-task', extractionId, (functions) => functions.startTask(input, token, attempt))
      .catch((error) => service.answer(token, errorOf(error)));
    const error = await answered;
    if (error === undefined) return 'succeeded';
    const pause = retry(error);
    if (pause === undefined) return 'failed';
    await service.time.sleep(pause);
  }
};

/** One execution, from its start to its end. The rule reports one that is broken. */
export const runExecution = async (input: ExecutionInput, service: Service): Promise<void> => {
  const { time } = service;
  const { extractionId } = input;
  const endsAt = time.now + machine.TimeoutSeconds * 1_000;
  if ((await startTask(input, service)) === 'succeeded') return;
  const { Reconcile, ReconcileAfterFailure } = machine.States;
  let retry = retriesOf(Reconcile.Retry, extractionId, service);
  let afterFailure = false;
  for (;;) {
    try {
      await service.invoke('reconcile', extractionId, (functions) =>
        functions.reconcileForMachine(extractionId, afterFailure),
      );
      return;
    } catch (error) {
      const pause = retry(errorOf(error));
      if (pause === undefined && !afterFailure) {
        afterFailure = true;
        retry = retriesOf(ReconcileAfterFailure.Retry, extractionId, service);
        continue;
      }
      if (pause === undefined || time.now + pause >= endsAt) break;
      await time.sleep(pause);
    }
  }
  service.queue.accept({ extractionId, cause: 'execution-broken' }, 0);
};
