import type { Hono } from 'hono';
import * as v from 'valibot';
import { CredentialsSchema, readCredentials } from '../credentials/read-credentials.ts';
import { resultsShown } from '../planned-behaviour.ts';
import { acceptsEntity } from '../registered-client.ts';
import { addMarker } from '../results/build-results.ts';
import type { Sandbox } from '../state-types.ts';
import { ACTION_IDS } from '../task-vocabulary.ts';
import { createTask } from '../tasks/create-task.ts';
import { hasExpired, taskStatusAt } from '../tasks/task-timing.ts';
import { requireSession } from '../transport/authenticate.ts';
import type { SandboxEnv } from '../transport/hono-types.ts';
import { bodyOf } from '../transport/read-json.ts';
import { invalidRequest, refused } from '../transport/refusal.ts';
import { answerRead, answerStart } from './answer-as-planned.ts';

const isRealDay = (text: string): boolean => {
  const date = new Date(`${text}T00:00:00Z`);
  // Date turns 2026-02-30 into 2026-03-02.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
};

/** YYYY-MM-DD ("Limits"), and a day that exists. */
const day = v.pipe(v.string(), v.regex(/^\d{4}-\d{2}-\d{2}$/), v.check(isRealDay));

const params = v.strictObject({ dateRange: v.strictObject({ startDate: day, endDate: day }) });

const listedAction = v.variant('id', [
  v.strictObject({ id: v.literal('movement'), params }),
  // These do not accept `params`.
  v.strictObject({ id: v.literal('product-balance') }),
  v.strictObject({ id: v.literal('tef') }),
]);

/** Any other id is an action too, as any slug is an entity. */
const otherAction = v.strictObject({
  id: v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9-]*$/)),
  params: v.exactOptional(params),
});

const listed: readonly unknown[] = ACTION_IDS;

const action = v.lazy((input) =>
  listed.includes((input as { readonly id?: unknown } | null)?.id) ? listedAction : otherAction,
);

/** "v2 task request". Strict: undocumented fields are refused. */
const TaskRequestSchema = v.strictObject({
  entity: v.pipe(v.string(), v.minLength(1)),
  credentials: CredentialsSchema,
  actions: v.pipe(v.array(action), v.minLength(1)),
  webhook: v.exactOptional(
    v.strictObject({
      enable: v.boolean(),
      retries: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(5)), 3),
    }),
  ),
});

/** "Start task (v2)" and "Read task (v2)". */
export const addTaskRoutes = (app: Hono<SandboxEnv>, sandbox: Sandbox): void => {
  app.post('/api/v2/tasks', requireSession(sandbox), (c) => {
    const session = c.get('session');
    const { entity, credentials, actions, webhook } = bodyOf(c, TaskRequestSchema);
    const client = c.get('client');
    if (!acceptsEntity(client, entity)) throw invalidRequest(c, ['entity']);
    if (credentials.mode === 'encrypted' && client.restrictions.temporaryEncryption === false) {
      throw refused(403, { message: 'Temporary encryption is not activated for this client' });
    }
    const now = sandbox.clock.now();
    const identity = readCredentials(credentials, { session, now, entityId: entity });
    if (identity === undefined) throw invalidRequest(c, ['credentials.value']);
    const { username } = identity;
    Object.assign(c.get('call'), { username, credentialsMode: credentials.mode, webhook });
    c.get('reportReceived')();
    return answerStart(sandbox, c, {
      username,
      token: session,
      accept: () =>
        createTask(sandbox, { clientId: session.clientId, ...identity, entity, actions, webhook }),
    });
  });

  app.get('/api/v2/tasks/:taskId', requireSession(sandbox), (c) => {
    const session = c.get('session');
    const call = c.get('call');
    call.taskId = c.req.param('taskId');
    const task = sandbox.tasks.get(call.taskId);
    if (task === undefined || hasExpired(sandbox, task)) throw refused(404, { message: 'Not found' });
    // "Authentication" 2. The document does not show the status.
    if (task.clientId !== session.clientId) throw refused(403, { message: 'Forbidden' });
    const { username, ending } = task;
    const results = addMarker(sandbox, username, ending?.results ?? null);
    call.username = username;
    c.get('reportReceived')();
    return answerRead(sandbox, c, {
      username,
      token: session,
      status: 200,
      body: {
        taskStatus: taskStatusAt(task, sandbox.clock.now()),
        results: resultsShown(sandbox, username, { endedAt: ending?.finishedAt, results }),
      },
    });
  });
};
