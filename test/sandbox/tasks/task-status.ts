import type { Task } from '../state.ts';
import type { TaskStatus } from '../task-vocabulary.ts';

export function taskStatusAt(task: Task, now: number): TaskStatus {
  return task.ending?.taskStatus ?? (now < task.runningAt ? 'PENDING' : 'RUNNING');
}
