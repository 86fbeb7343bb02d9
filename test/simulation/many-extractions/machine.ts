import { extractionMachineDefinition } from '../../../infra/extraction-machine-definition.ts';
import type { ExecutionInput } from '../../../lib/extraction/api/request-extraction.ts';
import { errorNameOf, retriesOf } from '../models/step-functions-retries.ts';
import type { Service } from './service.ts';
import { settings } from './settings.ts';

/** The definition that is deployed. */
const machine = extractionMachineDefinition(settings, {
  startTask: 'start',
  reconcile: 'reconcile',
  startLine: 'StartLine',
});

/** The milliseconds until the next attempt of one state of one execution, or undefined if the state fails. */
const pausesOf = (retriers: Parameters<typeof retriesOf>[0], of: string, { choices }: Service) => {
  const retry = retriesOf(retriers);
  return (error: string): number | undefined => {
    const { milliseconds, isJittered } = retry(error) ?? {};
    if (milliseconds === undefined) return undefined;
    return isJittered ? choices.milliseconds(of, milliseconds, 0) : milliseconds;
  };
};

/** StartTask: resolves once its callback token is answered with success, or the state has failed. */
const startTask = async (input: ExecutionInput, service: Service): Promise<'succeeded' | 'failed'> => {
  const { StartTask } = machine.States;
  const { extractionId } = input;
  const retry = pausesOf(StartTask.Retry, extractionId, service);
  for (let attempt = 0; ; attempt += 1) {
    const token = `${extractionId}/${attempt}`;
    const answered = service.waitFor(token, (StartTask.TimeoutSeconds ?? 0) * 1_000);
    service
      .invoke('start-task', extractionId, (functions) => functions.startTask(input, token, attempt))
      .catch((error) => service.answer(token, errorNameOf(error)));
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
  const retry = pausesOf(machine.States.Reconcile.Retry, extractionId, service);
  for (;;) {
    try {
      await service.invoke('reconcile', extractionId, (functions) =>
        functions.reconcileForMachine(extractionId),
      );
      return;
    } catch (error) {
      const pause = retry(errorNameOf(error));
      if (pause === undefined || time.now + pause >= endsAt) break;
      await time.sleep(pause);
    }
  }
  service.queue.accept({ extractionId, cause: 'execution-broken' }, 0);
};
