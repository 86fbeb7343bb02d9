import { Hono } from 'hono';
import * as v from 'valibot';
import { readCredentials } from '../credentials/read-credentials.ts';
import { legacyAnswer } from '../legacy/legacy-answer.ts';
import { isStartPreset, READ_PRESETS, START_PRESETS, type StartPreset } from '../legacy/presets.ts';
import { refusedStart } from '../legacy/refused-start.ts';
import { nextReadBehaviour, nextStartBehaviour, planOf } from '../planned-behaviour.ts';
import { PRODUCTS } from '../product-vocabulary.ts';
import { acceptsEntity } from '../registered-client.ts';
import type { LegacyTaskRequest, PolledTask, Sandbox } from '../state-types.ts';
import { createPolledTask } from '../tasks/create-task.ts';
import { hasExpired, progressAt } from '../tasks/task-timing.ts';
import { requireSession } from '../transport/authenticate.ts';
import type { SandboxContext, SandboxEnv } from '../transport/hono-types.ts';
import { readJson } from '../transport/read-json.ts';
import { unknownPreset } from '../transport/refusal.ts';
import { answerRead } from './answer-read.ts';
import { answerStart } from './answer-start.ts';

const actionTypes: ReadonlySet<string> = new Set(PRODUCTS);

const LegacyTaskSchema = v.strictObject({
  /** `<entity_id>:<action_type>`. */
  action: v.pipe(
    v.string(),
    v.regex(/^[^:]+:[^:]+$/),
    v.check((action) => actionTypes.has(action.split(':')[1] ?? '')),
  ),
  encryptArgs: v.string(),
  /** "v1 used a boolean" ("Versioning" 2). The document shows no events of v1, so it has no effect. */
  webhook: v.exactOptional(v.boolean()),
});

/** "Legacy v1 task API", its tasks. */
export const legacyTaskRoutes = (sandbox: Sandbox): Hono<SandboxEnv> => {
  const app = new Hono<SandboxEnv>();

  app.post('/api/v1/tasks', requireSession(sandbox), async (c): Promise<Response> => {
    const responseType = c.req.query('responseType');
    if (responseType !== undefined) {
      return isStartPreset(responseType) ? presetAnswer(c, responseType) : unknownPreset(c);
    }
    const session = c.get('session');
    const client = c.get('client');
    const parsed = readJson(c.get('body'), LegacyTaskSchema);
    if (!parsed.valid) return c.json({ message: 'Invalid request', invalid: parsed.invalid }, 400);
    const { action, encryptArgs } = parsed.output;
    const [entityId = '', actionType = ''] = action.split(':');
    if (!acceptsEntity(client, entityId))
      return c.json({ message: 'Invalid request', invalid: ['action'] }, 400);
    if (client.restrictions.temporaryEncryption === false) return presetAnswer(c, 'forbidden');
    const now = sandbox.clock.now();
    const identity = readCredentials({ mode: 'encrypted', value: encryptArgs }, { session, now, entityId });
    if (identity === undefined) {
      return c.json({ message: 'Invalid request', invalid: ['encryptArgs'] }, 400);
    }
    const { username, businessId } = identity;
    const call = c.get('call');
    call.username = username;
    call.credentialsMode = 'encrypted';
    c.get('reportReceived')();
    const refused = refusedStart(sandbox, client, { username, entityId, actionType });
    if (refused !== undefined) return presetAnswer(c, refused);
    return answerStart(sandbox, c, nextStartBehaviour(sandbox, username), {
      token: session,
      accept() {
        const task = createPolledTask(sandbox, {
          clientId: session.clientId,
          username,
          asked: {
            kind: 'legacy',
            entityId,
            actionType,
            ...(businessId === undefined ? {} : { businessId }),
          },
        });
        call.taskId = task.taskId;
        return {
          answer: { taskId: task.taskId },
          finish: async () => {
            task.endsAt = sandbox.clock.now();
          },
        };
      },
    });
  });

  app.get('/api/v1/tasks/:taskId', requireSession(sandbox), async (c): Promise<Response> => {
    const responseType = c.req.query('responseType');
    const taskId = c.req.param('taskId');
    const session = c.get('session');
    const call = c.get('call');
    call.taskId = taskId;
    const task = legacyTaskOf(sandbox, taskId);
    const preset = READ_PRESETS.get(responseType ?? '');
    if (preset !== undefined) {
      // A preset applies to any taskId, also an unknown one.
      return c.json(preset(task?.clientId === session.clientId ? task : defaultOwner));
    }
    if (responseType !== undefined) return unknownPreset(c);
    if (task === undefined || hasExpired(sandbox, task)) return c.json({ message: 'Not found' }, 404);
    if (task.clientId !== session.clientId) return c.json({ message: 'Forbidden' }, 403);
    const { username } = task;
    call.username = username;
    c.get('reportReceived')();
    const now = sandbox.clock.now();
    const progress = progressAt(task, now);
    const body = legacyAnswer(task.asked, username, planOf(sandbox, username), progress, task.endsAt ?? now);
    return answerRead(sandbox, c, nextReadBehaviour(sandbox, username), {
      token: session,
      status: progress === 'ended' ? 200 : 202,
      body: { ...body },
    });
  });

  return app;
};

/** "Response text": plain text, not JSON. */
const presetAnswer = (c: SandboxContext, name: StartPreset): Response => {
  const { status, text } = START_PRESETS[name];
  return c.text(text, status);
};

const defaultOwner = { username: 'sandbox-user', asked: { entityId: 'demo-bank' } };

type LegacyTask = PolledTask & {
  readonly asked: LegacyTaskRequest;
};

const legacyTaskOf = (sandbox: Sandbox, taskId: string): LegacyTask | undefined => {
  const task = sandbox.polledTasks.get(taskId);
  return task !== undefined && isLegacy(task) ? task : undefined;
};

const isLegacy = (task: PolledTask): task is LegacyTask => task.asked.kind === 'legacy';
