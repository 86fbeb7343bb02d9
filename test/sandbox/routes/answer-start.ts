import type { StartBehaviour } from '../plan.ts';
import type { Sandbox, Task } from '../state.ts';
import { finishTask } from '../tasks/finish-task.ts';
import { holdSilent } from '../transport/hold-silent.ts';
import { plannedAnswer } from '../transport/planned-answer.ts';
import { resetConnection } from '../transport/reset-connection.ts';
import { trickle } from '../transport/trickle.ts';
import type { SandboxContext } from '../transport/wire.ts';
import { wantsDelivery } from '../webhook/deliver-completion.ts';
import { deliveriesMade } from '../webhook/deliveries-made.ts';

/** Treats one valid start call as its plan says. `accept` is what taking it means: it creates the task. */
export async function answerStart(
  sandbox: Sandbox,
  c: SandboxContext,
  behaviour: StartBehaviour,
  accept: () => Task,
): Promise<Response> {
  switch (behaviour.kind) {
    case 'answer':
      return plannedAnswer(behaviour);
    case 'silence':
      return holdSilent(c);
    case 'expire-session':
      c.get('session').expiresAt = sandbox.clock.now();
      return c.json({ message: 'Unauthorized' }, 401);
    case 'reset':
      if (behaviour.taken !== false) accept();
      return resetConnection(c);
    case 'accept':
      return taken(accept());
    case 'accept-then-answer':
      accept();
      return plannedAnswer(behaviour);
    case 'accept-then-silence':
      accept();
      return holdSilent(c);
    case 'slow': {
      const task = accept();
      await sandbox.clock.until(sandbox.clock.now() + behaviour.delayMs, c.req.raw.signal);
      return taken(task);
    }
    case 'trickle':
      return trickle(JSON.stringify({ taskId: accept().taskId }));
    case 'finish-first': {
      const task = accept();
      // Listening begins before the end that it waits for.
      const made = wantsDelivery(sandbox, task)
        ? deliveriesMade(sandbox, task.taskId, behaviour.answerAfterDeliveries ?? 1)
        : undefined;
      finishTask(sandbox, task, { at: sandbox.clock.now() });
      await made;
      return taken(task);
    }
  }
  function taken({ taskId }: Task): Response {
    return c.json({ taskId });
  }
}
