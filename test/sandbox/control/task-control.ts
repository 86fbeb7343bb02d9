import { Hono } from 'hono';
import * as v from 'valibot';
import { DeliveryShapeSchema } from '../plan-schemas.ts';
import type { PolledTask, Sandbox, Task } from '../state-types.ts';
import { TERMINAL_STATUSES } from '../task-vocabulary.ts';
import { finishTask } from '../tasks/finish-task.ts';
import type { SandboxEnv } from '../transport/hono-types.ts';
import { type AttemptedDelivery, attemptDelivery } from '../webhook/attempt-delivery.ts';
import { clientOf } from './client-control.ts';
import { ControlError, readBody } from './read-body.ts';
import { polledTaskView, taskView } from './views.ts';

const FinishSchema = v.strictObject({ taskStatus: v.exactOptional(v.picklist(TERMINAL_STATUSES)) });
const DeliverSchema = v.strictObject({
  ...DeliveryShapeSchema.entries,
  taskId: v.string(),
  taskStatus: v.string(),
  clientId: v.exactOptional(v.string()),
});

/** Reads and ends tasks, and sends deliveries. */
export const taskControl = (sandbox: Sandbox): Hono<SandboxEnv> => {
  const app = new Hono<SandboxEnv>();

  app.get('/tasks/:taskId', (c) =>
    c.json(taskView(taskOf(sandbox, c.req.param('taskId')), sandbox.clock.now())),
  );

  app.post('/tasks/:taskId/finish', async (c) => {
    const task = taskOf(sandbox, c.req.param('taskId'));
    const input = await readBody(c, FinishSchema);
    if (!finishTask(sandbox, task, { at: sandbox.clock.now(), ...input })) {
      throw new ControlError(409, 'The task has ended already');
    }
    return c.json(taskView(task, sandbox.clock.now()));
  });

  app.post('/tasks/:taskId/deliver', async (c) => {
    const { taskId, clientId, ending } = taskOf(sandbox, c.req.param('taskId'));
    const shape = await readBody(c, DeliveryShapeSchema);
    const taskStatus = shape.statusOverride ?? ending?.taskStatus;
    if (taskStatus === undefined) {
      throw new ControlError(409, 'The task has not ended: give statusOverride, or finish it first');
    }
    const client = clientOf(sandbox, clientId);
    return c.json(
      answerOf(await attemptDelivery(sandbox, { client, taskId, taskStatus, attempt: 0, shape })),
    );
  });

  app.post('/deliver', async (c) => {
    const { taskId, taskStatus, clientId, ...shape } = await readBody(c, DeliverSchema);
    const client = clientOf(sandbox, clientId);
    return c.json(
      answerOf(await attemptDelivery(sandbox, { client, taskId, taskStatus, attempt: 0, shape })),
    );
  });

  return app;
};

/** The receiver's answer (`status`, `body` as text), or `error` if there was none. */
export type ReceiverAnswer = {
  readonly status?: number;
  readonly body?: string;
  readonly error?: string;
};

const answerOf = ({ delivery: { status, error }, body }: AttemptedDelivery): ReceiverAnswer => ({
  ...(status === undefined ? {} : { status }),
  ...(body === undefined ? {} : { body }),
  ...(error === undefined ? {} : { error }),
});

const taskOf = (sandbox: Sandbox, taskId: string): Task => {
  const task = sandbox.tasks.get(taskId);
  if (task === undefined) throw new ControlError(404, 'There is no such task');
  return task;
};

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
