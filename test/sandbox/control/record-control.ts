import { Hono } from 'hono';
import type { Sandbox } from '../state.ts';
import type { SandboxEnv } from '../transport/wire.ts';
import { taskView } from './views.ts';

/** Lists the received calls and the tasks. */
export const recordControl = (sandbox: Sandbox): Hono<SandboxEnv> => {
  const app = new Hono<SandboxEnv>();

  app.get('/calls', (c) => {
    const { username, taskId, consentId, path, method } = c.req.query();
    return c.json(
      sandbox.calls
        .filter((call) => username === undefined || call.username === username)
        .filter((call) => taskId === undefined || call.taskId === taskId)
        .filter((call) => consentId === undefined || call.consentId === consentId)
        .filter((call) => path === undefined || call.path === path)
        .filter((call) => method === undefined || call.method === method),
    );
  });

  app.get('/tasks', (c) => {
    const { username } = c.req.query();
    const tasks = [...sandbox.tasks.values()].filter(
      (task) => username === undefined || task.username === username,
    );
    return c.json(tasks.map((task) => taskView(task, sandbox.clock.now())));
  });

  return app;
};
