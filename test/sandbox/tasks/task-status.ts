import type { Task } from '../state.ts';
import type { TaskStatus } from '../task-vocabulary.ts';

export const taskStatusAt = (task: Task, now: number): TaskStatus =>
  task.ending?.taskStatus ?? (now < task.runningAt ? 'PENDING' : 'RUNNING');
