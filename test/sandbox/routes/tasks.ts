import { Hono } from 'hono';
import { readCredentials } from '../credentials/read-credentials.ts';
import { nextReadBehaviour, nextStartBehaviour } from '../planned-behaviour.ts';
import { acceptsEntity } from '../registered-client.ts';
import { addMarker } from '../results/build-results.ts';
import type { Sandbox, Task } from '../state-types.ts';
import { createTask } from '../tasks/create-task.ts';
import { finishTask, runTask } from '../tasks/finish-task.ts';
import { parseTaskRequest } from '../tasks/parse-task-request.ts';
import { durationFor, hasExpired, taskStatusAt } from '../tasks/task-timing.ts';
import { requireSession } from '../transport/authenticate.ts';
import type { SandboxEnv } from '../transport/hono-types.ts';
import { firstDelivery, sendsWebhook } from '../webhook/deliver-completion.ts';
import { answerRead } from './answer-read.ts';
import { answerStart } from './answer-start.ts';

/** "Start task (v2)" and "Read task (v2)". */
export const taskRoutes = (sandbox: Sandbox): Hono<SandboxEnv> => {
  const app = new Hono<SandboxEnv>();

  app.post('/api/v2/tasks', requireSession(sandbox), async (c): Promise<Response> => {
    const session = c.get('session');
    const parsed = parseTaskRequest(c.get('body'));
    if (!parsed.valid) return c.json({ message: 'Invalid request', invalid: parsed.invalid }, 400);
    const request = parsed.output;
    const client = c.get('client');
    if (!acceptsEntity(client, request.entity)) {
      return c.json({ message: 'Invalid request', invalid: ['entity'] }, 400);
    }
    if (request.credentials.mode === 'encrypted' && client.restrictions.temporaryEncryption === false) {
      return c.json({ message: 'Temporary encryption is not activated for this client' }, 403);
    }
    const identity = readCredentials(request.credentials, {
      session,
      now: sandbox.clock.now(),
      entityId: request.entity,
    });
    if (identity === undefined) {
      return c.json({ message: 'Invalid request', invalid: ['credentials.value'] }, 400);
    }
    const { username } = identity;
    const call = c.get('call');
    call.username = username;
    call.credentialsMode = request.credentials.mode;
    if (request.webhook !== undefined) call.webhook = request.webhook;
    c.get('reportReceived')();
    return answerStart(sandbox, c, nextStartBehaviour(sandbox, username), {
      token: session,
      accept() {
        const durationMs = durationFor(sandbox, username);
        const task = createTask(sandbox, session.clientId, identity, request, durationMs);
        call.taskId = task.taskId;
        void runTask(sandbox, task, durationMs);
        return {
          answer: { taskId: task.taskId },
          finish: () => finishAndDeliver(sandbox, task),
        };
      },
    });
  });

  app.get('/api/v2/tasks/:taskId', requireSession(sandbox), async (c): Promise<Response> => {
    const task = sandbox.tasks.get(c.req.param('taskId'));
    const session = c.get('session');
    const call = c.get('call');
    call.taskId = c.req.param('taskId');
    if (task === undefined || hasExpired(sandbox, task)) return c.json({ message: 'Not found' }, 404);
    // "Authentication" 2. The document does not show the status.
    if (task.clientId !== session.clientId) return c.json({ message: 'Forbidden' }, 403);
    call.username = task.username;
    c.get('reportReceived')();
    return answerRead(sandbox, c, nextReadBehaviour(sandbox, task.username), {
      token: session,
      status: 200,
      body: {
        taskStatus: taskStatusAt(task, sandbox.clock.now()),
        results: addMarker(sandbox, task.username, task.ending?.results ?? null),
      },
    });
  });

  return app;
};

const finishAndDeliver = async (sandbox: Sandbox, task: Task): Promise<void> => {
  // Subscribes before the task ends.
  const delivered = sendsWebhook(sandbox, task) ? firstDelivery(sandbox, task.taskId) : undefined;
  finishTask(sandbox, task, { at: sandbox.clock.now() });
  await delivered;
};
