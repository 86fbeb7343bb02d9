import { Hono } from 'hono';
import type { PolledTask, Sandbox } from '../state.ts';
import type { SandboxEnv } from '../transport/wire.ts';
import { ControlError } from './control-error.ts';
import { polledTaskView } from './views.ts';

/** Lists and ends the tasks of the consent flow and of the legacy interface. */
export const polledTaskControl = (sandbox: Sandbox): Hono<SandboxEnv> => {
  const app = new Hono<SandboxEnv>();
  const view = (task: PolledTask) => polledTaskView(task, sandbox.clock.now());

  app.get('/polled-tasks', (c) => {
    const { username } = c.req.query();
    const tasks = [...sandbox.polledTasks.values()].filter(
      (task) => username === undefined || task.username === username,
    );
    return c.json(tasks.map(view));
  });

  app.post('/polled-tasks/:taskId/finish', (c) => {
    const task = sandbox.polledTasks.get(c.req.param('taskId'));
    if (task === undefined) throw new ControlError(404, 'There is no such task');
    const now = sandbox.clock.now();
    if (task.endsAt !== null && task.endsAt <= now) throw new ControlError(409, 'The task has ended already');
    task.endsAt = now;
    return c.json(view(task));
  });

  return app;
};
