import { Hono } from 'hono';
import { readCredentials } from '../credentials/read-credentials.ts';
import { nextReadBehaviour, nextStartBehaviour, planOf } from '../plans.ts';
import type { Sandbox } from '../state.ts';
import { createTask } from '../tasks/create-task.ts';
import { parseTaskRequest } from '../tasks/parse-task-request.ts';
import { runTask } from '../tasks/run-task.ts';
import { taskStatusAt } from '../tasks/task-status.ts';
import { requireSession } from '../transport/require-session.ts';
import type { SandboxEnv } from '../transport/wire.ts';
import { answerRead } from './answer-read.ts';
import { answerStart } from './answer-start.ts';

/** "Start task (v2)" and "Read task (v2)". */
export function taskRoutes(sandbox: Sandbox): Hono<SandboxEnv> {
  const app = new Hono<SandboxEnv>();

  app.post('/api/v2/tasks', requireSession(sandbox), async (c): Promise<Response> => {
    const session = c.get('session');
    const parsed = parseTaskRequest(c.get('body'));
    if (!parsed.valid) return c.json({ message: 'Invalid request', invalid: parsed.paths }, 400);
    const { request } = parsed;
    const identity = readCredentials(request.credentials, session, sandbox.clock.now());
    if (identity === undefined) {
      return c.json({ message: 'Invalid request', invalid: ['credentials.value'] }, 400);
    }
    const { username } = identity;
    const call = c.get('call');
    call.username = username;
    call.credentialsMode = request.credentials.mode;
    if (request.webhook !== undefined) call.webhook = request.webhook;
    c.get('announce')();
    return answerStart(sandbox, c, nextStartBehaviour(sandbox, username), () => {
      const usual = planOf(sandbox, username).durationMs;
      const durationMs = usual === undefined ? sandbox.settings.taskDurationMs : usual;
      const task = createTask(sandbox, session.clientId, identity, request, durationMs);
      call.taskId = task.taskId;
      void runTask(sandbox, task, durationMs);
      return task;
    });
  });

  app.get('/api/v2/tasks/:taskId', requireSession(sandbox), async (c): Promise<Response> => {
    const task = sandbox.tasks.get(c.req.param('taskId'));
    const call = c.get('call');
    call.taskId = c.req.param('taskId');
    if (task === undefined) return c.json({ message: 'Not found' }, 404);
    // "Authentication" 2; which status says so is "not shown".
    if (task.clientId !== c.get('session').clientId) return c.json({ message: 'Forbidden' }, 403);
    call.username = task.username;
    c.get('announce')();
    const behaviour = nextReadBehaviour(sandbox, task.username);
    if (behaviour !== undefined) return answerRead(sandbox, c, behaviour, task);
    const taskStatus = taskStatusAt(task, sandbox.clock.now());
    return c.json({ taskStatus, results: task.ending?.results ?? null });
  });

  return app;
}
