import type { ReadBehaviour } from '../plan.ts';
import type { Sandbox, Task } from '../state.ts';
import { taskStatusAt } from '../tasks/task-status.ts';
import { holdSilent } from '../transport/hold-silent.ts';
import { plannedAnswer } from '../transport/planned-answer.ts';
import { resetConnection } from '../transport/reset-connection.ts';
import type { SandboxContext } from '../transport/wire.ts';

/** Answers one read of a task as its plan says. */
export function answerRead(
  sandbox: Sandbox,
  c: SandboxContext,
  behaviour: ReadBehaviour,
  task: Task,
): Response | Promise<Response> {
  const now = sandbox.clock.now();
  const results = task.ending?.results ?? null;
  switch (behaviour.kind) {
    case 'answer':
      return plannedAnswer(behaviour);
    case 'silence':
      return holdSilent(c);
    case 'reset':
      return resetConnection(c);
    case 'expire-session':
      c.get('session').expiresAt = now;
      return c.json({ message: 'Unauthorized' }, 401);
    case 'status':
      return c.json({ taskStatus: behaviour.taskStatus, results });
    case 'big':
      return c.json({
        taskStatus: taskStatusAt(task, now),
        results: { ...(isObject(results) ? results : {}), filler: 'x'.repeat(behaviour.bytes) },
      });
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
