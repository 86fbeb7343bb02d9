import type { ExecutionInput } from '#lib/extraction/api/create-extraction.ts';
import { extractionMachineDefinition } from '../../../infra/extraction-machine-definition.ts';
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
const startTask = async (
  input: ExecutionInput,
  { entry, isReleased }: { readonly entry: number; readonly isReleased: boolean },
  service: Service,
): Promise<'succeeded' | 'waits' | 'failed'> => {
  const { StartTask } = machine.States;
  const { extractionId } = input;
  const retry = pausesOf(StartTask.Retry, extractionId, service);
  for (let attempt = 0; ; attempt += 1) {
    const token = `${extractionId}/${entry}/${attempt}`;
    const payload = { ...input, entry, isReleased: isReleased && attempt === 0 };
    const answered = service.waitFor(token, (StartTask.TimeoutSeconds ?? 0) * 1_000);
    service.countTransition(extractionId);
    service
      .invoke('start-task', extractionId, (functions) =>
        functions.startTask(payload, token, 1_000 * entry + attempt),
      )
      .catch((error) => service.answer(token, errorNameOf(error)));
    const error = await answered;
    if (error === undefined) return 'succeeded';
    const pause = retry(error);
    if (pause === undefined) return error === 'Waits' ? 'waits' : 'failed';
    await service.time.sleep(pause);
  }
};

/** InLine: until the dispatcher answers its callback token, or the state has failed. Returns whether it was released. */
const inLine = async (
  { extractionId, requestId }: ExecutionInput,
  entry: number,
  service: Service,
): Promise<boolean> => {
  const { InLine } = machine.States;
  const token = `${extractionId}/${entry}/line`;
  service.countTransition(extractionId);
  await service.time.sleep(service.choices.milliseconds(extractionId, 20, 200));
  const { throttledOneIn = 0 } = service.population.line ?? {};
  if (throttledOneIn > 0 && service.choices.choose(extractionId, throttledOneIn) === 0) {
    service.losses += 1;
    const retry = pausesOf(InLine.Retry, extractionId, service);
    for (;;) {
      const pause = retry('DynamoDb.ThrottlingException');
      if (pause === undefined) return false;
      await service.time.sleep(pause);
    }
  }
  const answered = service.waitFor(token, (InLine.TimeoutSeconds ?? 0) * 1_000);
  if (!service.line.enter(extractionId, requestId, token))
    service.answer(token, 'DynamoDb.ConditionalCheckFailedException');
  return (await answered) === undefined;
};

/** One execution, from its start to its end. The rule reports one that is broken. */
export const runExecution = async (input: ExecutionInput, service: Service): Promise<void> => {
  const { time } = service;
  const { extractionId } = input;
  const endsAt = time.now + machine.TimeoutSeconds * 1_000;
  let isReleased = false;
  for (let entry = 0; ; entry += 1) {
    const ended = await startTask(input, { entry, isReleased }, service);
    if (ended === 'succeeded') return;
    if (ended === 'failed') break;
    isReleased = await inLine(input, entry, service);
  }
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
  service.queue.accept({ extractionId, cause: 'execution-broken' }, { of: extractionId });
};
