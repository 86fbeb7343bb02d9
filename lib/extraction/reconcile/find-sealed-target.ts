import type { ExecutionInput } from '../api/request-extraction.ts';
import type { TaskStore } from '../store.ts';

/**
 * The sealed target of a task by consent. start-task stores it in `Tasks`. If it was interrupted before that, the
 * execution's input has it. It is then stored for the next poll, because DescribeExecution allows only 15 calls a second
 * (https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html). Throws what the dependencies throw.
 */
export const findSealedTarget = async (
  extractionId: string,
  taskId: string,
  deps: {
    readonly tasks: Pick<TaskStore, 'get' | 'keepTarget'>;
    readonly readInput: (extractionId: string) => Promise<Pick<ExecutionInput, 'sealed'>>;
  },
): Promise<string> => {
  const task = await deps.tasks.get(taskId);
  // Another extraction's target, if the provider returned one task id twice. KMS would refuse to decrypt it for this one.
  if (task?.sealedTarget !== undefined && task.sealedFor === extractionId) return task.sealedTarget;
  const { sealed } = await deps.readInput(extractionId);
  await deps.tasks.keepTarget({ taskId, extractionId, sealedTarget: sealed });
  return sealed;
};
