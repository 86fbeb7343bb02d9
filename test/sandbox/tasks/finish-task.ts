import { planOf } from '../plans.ts';
import type { Sandbox, Task } from '../state.ts';
import type { TerminalStatus } from '../task-vocabulary.ts';
import { deliverCompletion } from '../webhook/deliver-completion.ts';
import { endTask } from './end-task.ts';

/** Ends a task and starts its deliveries. Returns false if it has ended already. */
export const finishTask = (
  sandbox: Sandbox,
  task: Task,
  { at, taskStatus }: { readonly at: number; readonly taskStatus?: TerminalStatus },
): boolean => {
  const client = sandbox.clients.get(task.clientId);
  if (task.ending !== undefined || client === undefined) return false;
  const ending = endTask(task, planOf(sandbox, task.username), at, taskStatus);
  task.ending = ending;
  sandbox.events.append({
    type: 'task-finished',
    taskId: task.taskId,
    username: task.username,
    taskStatus: ending.taskStatus,
  });
  void deliverCompletion(sandbox, task, client);
  return true;
};
