import type { Hono } from 'hono';
import * as v from 'valibot';
import { readCredentials } from '../credentials/read-credentials.ts';
import { PRODUCTS } from '../entities.ts';
import { legacyAnswer } from '../legacy/legacy-answer.ts';
import { presetAnswer, READ_PRESETS } from '../legacy/presets.ts';
import { refusedStart } from '../legacy/refused-start.ts';
import { isStartPreset } from '../legacy/start-presets.ts';
import { planOf } from '../planned-behaviour.ts';
import { acceptsEntity } from '../registered-client.ts';
import type { LegacyTaskRequest, PolledTask, Sandbox } from '../state-types.ts';
import { createPolledTask } from '../tasks/create-task.ts';
import { hasExpired, progressAt } from '../tasks/task-timing.ts';
import { requireSession } from '../transport/authenticate.ts';
import type { SandboxEnv } from '../transport/hono-types.ts';
import { bodyOf } from '../transport/read-json.ts';
import { invalidRequest, refused } from '../transport/refusal.ts';
import { answerRead, answerStart } from './answer-as-planned.ts';

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
export const addLegacyTaskRoutes = (app: Hono<SandboxEnv>, sandbox: Sandbox): void => {
  app.post('/api/v1/tasks', requireSession(sandbox), (c) => {
    const responseType = c.req.query('responseType');
    if (responseType !== undefined) {
      if (!isStartPreset(responseType)) throw invalidRequest(c, ['responseType']);
      return presetAnswer(c, responseType);
    }
    const session = c.get('session');
    const client = c.get('client');
    const { action, encryptArgs } = bodyOf(c, LegacyTaskSchema);
    const [entityId = '', actionType = ''] = action.split(':');
    if (!acceptsEntity(client, entityId)) throw invalidRequest(c, ['action']);
    if (client.restrictions.temporaryEncryption === false) return presetAnswer(c, 'forbidden');
    const now = sandbox.clock.now();
    const identity = readCredentials({ mode: 'encrypted', value: encryptArgs }, { session, now, entityId });
    if (identity === undefined) throw invalidRequest(c, ['encryptArgs']);
    const { username, businessId } = identity;
    Object.assign(c.get('call'), { username, credentialsMode: 'encrypted' });
    c.get('reportReceived')();
    const preset = refusedStart(sandbox, client, { username, entityId, actionType });
    if (preset !== undefined) return presetAnswer(c, preset);
    return answerStart(sandbox, c, {
      username,
      token: session,
      accept: () =>
        createPolledTask(sandbox, {
          clientId: session.clientId,
          username,
          asked: { kind: 'legacy', entityId, actionType, businessId },
        }),
    });
  });

  app.get('/api/v1/tasks/:taskId', requireSession(sandbox), (c) => {
    const responseType = c.req.query('responseType');
    const session = c.get('session');
    const call = c.get('call');
    call.taskId = c.req.param('taskId');
    const task = legacyTaskOf(sandbox, call.taskId);
    if (responseType !== undefined) {
      const preset = READ_PRESETS.get(responseType);
      if (preset === undefined) throw invalidRequest(c, ['responseType']);
      // It applies to any taskId, also an unknown one.
      return c.json(preset(task?.clientId === session.clientId ? task : defaultOwner));
    }
    if (task === undefined || hasExpired(sandbox, task)) throw refused(404, { message: 'Not found' });
    if (task.clientId !== session.clientId) throw refused(403, { message: 'Forbidden' });
    const { username } = task;
    call.username = username;
    c.get('reportReceived')();
    const now = sandbox.clock.now();
    const progress = progressAt(task, now);
    return answerRead(sandbox, c, {
      username,
      token: session,
      status: progress === 'ended' ? 200 : 202,
      body: legacyAnswer(task.asked, username, planOf(sandbox, username), progress, task.endsAt ?? now),
    });
  });
};

const defaultOwner = { username: 'sandbox-user', asked: { entityId: 'demo-bank' } };

const legacyTaskOf = (sandbox: Sandbox, taskId: string) => {
  const task = sandbox.polledTasks.get(taskId);
  return task !== undefined && isLegacy(task) ? task : undefined;
};

const isLegacy = (task: PolledTask): task is PolledTask & { readonly asked: LegacyTaskRequest } =>
  task.asked.kind === 'legacy';
