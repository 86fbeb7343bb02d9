import type { Hono } from 'hono';
import * as v from 'valibot';
import { DeliveryShapeSchema } from '../plan-schemas.ts';
import type { PolledTask, Sandbox, Task } from '../state-types.ts';
import { TERMINAL_STATUSES } from '../task-vocabulary.ts';
import { finishTask } from '../tasks/finish-task.ts';
import type { SandboxEnv } from '../transport/hono-types.ts';
import { refused } from '../transport/refusal.ts';
import { attemptDelivery, type DeliveryInput } from '../webhook/attempt-delivery.ts';
import { clientOf } from './client-control.ts';
import { found, matching, readBody } from './read-body.ts';
import { polledTaskView, taskView } from './views.ts';

const FinishSchema = v.strictObject({ taskStatus: v.exactOptional(v.picklist(TERMINAL_STATUSES)) });
const DeliverSchema = v.strictObject({
  ...DeliveryShapeSchema.entries,
  taskId: v.string(),
  taskStatus: v.string(),
  clientId: v.exactOptional(v.string()),
});

/** Lists, reads and ends tasks, and sends deliveries. */
export const addTaskControl = (app: Hono<SandboxEnv>, sandbox: Sandbox): void => {
  const { clock, tasks, polledTasks } = sandbox;
  const view = (task: Task) => taskView(task, clock.now());
  const polledView = (task: PolledTask) => polledTaskView(task, clock.now());
  const hasEnded = () => refused(409, { message: 'The task has ended already' });

  app.get('/tasks', (c) => c.json(matching(tasks.values(), c, 'username').map(view)));

  app.get('/tasks/:taskId', (c) => c.json(view(found(tasks.get(c.req.param('taskId')), 'task'))));

  app.post('/tasks/:taskId/finish', async (c) => {
    const task = found(tasks.get(c.req.param('taskId')), 'task');
    const { taskStatus } = await readBody(c, FinishSchema);
    if (!finishTask(sandbox, task, clock.now(), taskStatus)) throw hasEnded();
    return c.json(view(task));
  });

  app.post('/tasks/:taskId/deliver', async (c) => {
    const { taskId, clientId, ending } = found(tasks.get(c.req.param('taskId')), 'task');
    const shape = await readBody(c, DeliveryShapeSchema);
    const taskStatus = shape.statusOverride ?? ending?.taskStatus;
    if (taskStatus === undefined) {
      throw refused(409, { message: 'The task has not ended: give statusOverride, or finish it first' });
    }
    return c.json(await deliver(sandbox, { client: clientOf(sandbox, clientId), taskId, taskStatus, shape }));
  });

  app.post('/deliver', async (c) => {
    const { taskId, taskStatus, clientId, ...shape } = await readBody(c, DeliverSchema);
    return c.json(await deliver(sandbox, { client: clientOf(sandbox, clientId), taskId, taskStatus, shape }));
  });

  app.get('/polled-tasks', (c) => c.json(matching(polledTasks.values(), c, 'username').map(polledView)));

  app.post('/polled-tasks/:taskId/finish', (c) => {
    const task = found(polledTasks.get(c.req.param('taskId')), 'task');
    const now = clock.now();
    if (task.endsAt !== null && task.endsAt <= now) throw hasEnded();
    task.endsAt = now;
    return c.json(polledView(task));
  });
};

/** The receiver's answer (`status`, `body` as text), or `error` if there was none. */
const deliver = async (sandbox: Sandbox, input: Omit<DeliveryInput, 'attempt'>) => {
  const { delivery, body } = await attemptDelivery(sandbox, { ...input, attempt: 0 });
  return { status: delivery.status, body, error: delivery.error };
};
