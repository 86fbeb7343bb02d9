import { Hono } from 'hono';
import { checkExtraction } from '../consents/check-extraction.ts';
import { extractionAnswer } from '../consents/extraction-answer.ts';
import { nextReadBehaviour, nextStartBehaviour, planOf } from '../planned-behaviour.ts';
import { addMarker } from '../results/build-results.ts';
import type { ConsentTaskRequest, Sandbox } from '../state-types.ts';
import { createPolledTask } from '../tasks/create-task.ts';
import { durationFor, hasExpired, progressAt } from '../tasks/task-timing.ts';
import { requireTaskToken } from '../transport/authenticate.ts';
import type { SandboxContext, SandboxEnv } from '../transport/hono-types.ts';
import { plannedAnswer } from '../transport/misbehave.ts';
import { refusal } from '../transport/refusal.ts';
import { answerRead } from './answer-read.ts';
import { answerStart } from './answer-start.ts';

/** The bodies of a version ("Start extraction (v1)", "Poll extraction (v1)", "v2 consent-based extraction"). */
interface Bodies {
  readonly version: ConsentTaskRequest['version'];
  started(taskId: string): object;
  inProgress(taskStatus: 'pending' | 'running'): Record<string, unknown>;
  finished(data: unknown): Record<string, unknown>;
}

const v1: Bodies = {
  version: 'v1',
  started: (taskId) => ({ taskId }),
  inProgress: (taskStatus) => ({ taskStatus, taskStatusCode: 202 }),
  finished: (results) => ({ taskStatus: 'success', taskStatusCode: 200, results }),
};

/** The document does not show the body of its 202. */
const v2: Bodies = {
  version: 'v2',
  started: (taskId) => ({ data: { taskId } }),
  inProgress: (taskStatus) => ({ taskStatus }),
  finished: (data) => ({ data }),
};

/** Consent-based extraction in both versions, and the deprecated synchronous call. */
export const consentExtractionRoutes = (sandbox: Sandbox): Hono<SandboxEnv> => {
  const app = new Hono<SandboxEnv>();
  app.use('/api/:version/products/retrieve-data/*', requireTaskToken(sandbox));
  for (const bodies of [v1, v2]) {
    const path = `/api/${bodies.version}/products/retrieve-data/tasks`;
    app.post(path, (c) => start(sandbox, c, bodies));
    app.get(`${path}/:taskId`, (c) => poll(sandbox, c, bodies, c.req.param('taskId') ?? ''));
  }
  app.post('/api/v1/products/retrieve-data', (c) => retrieveNow(sandbox, c));
  return app;
};

const start = async (
  sandbox: Sandbox,
  c: SandboxContext,
  { version, started }: Bodies,
): Promise<Response> => {
  const check = checkExtraction(sandbox, c);
  if (check instanceof Response) return check;
  const { product, consentId, entityId } = check;
  const taskToken = c.get('taskToken');
  const { clientId, target } = taskToken;
  return answerStart(sandbox, c, nextStartBehaviour(sandbox, target), {
    token: taskToken,
    accept() {
      const task = createPolledTask(sandbox, {
        clientId,
        username: target,
        asked: { kind: 'consent', version, consentId, entityId, product },
      });
      c.get('call').taskId = task.taskId;
      return {
        answer: started(task.taskId),
        // The document shows no event of the consent flow, so there is no delivery.
        finish: async () => {
          task.endsAt = sandbox.clock.now();
        },
      };
    },
  });
};

const poll = (
  sandbox: Sandbox,
  c: SandboxContext,
  { version, inProgress, finished }: Bodies,
  taskId: string,
): Response | Promise<Response> => {
  const task = sandbox.polledTasks.get(taskId);
  const taskToken = c.get('taskToken');
  c.get('call').taskId = taskId;
  if (
    task?.asked.kind !== 'consent' ||
    task.asked.version !== version ||
    task.clientId !== taskToken.clientId ||
    task.username !== taskToken.target ||
    hasExpired(sandbox, task)
  ) {
    return refusal(c, 404, 'TASK', 'There is no such task', { errorCode: 'TASK_NOT_FOUND' });
  }
  const { consentId, entityId, product } = task.asked;
  c.get('call').consentId = consentId;
  c.get('reportReceived')();
  const now = sandbox.clock.now();
  const progress = progressAt(task, now);
  const plan = planOf(sandbox, task.username);
  const answer =
    progress === 'ended'
      ? extractionAnswer(
          plan,
          { product, owner: task.username, entityId, at: task.endsAt ?? now, version },
          (data) => finished(addMarker(sandbox, task.username, data)),
        )
      : { status: 202, body: inProgress(progress) };
  const behaviour = nextReadBehaviour(sandbox, task.username);
  return answerRead(sandbox, c, behaviour, { token: taskToken, ...answer });
};

/** "Retrieve data, synchronous (deprecated)": it takes as long as a task. */
const retrieveNow = async (sandbox: Sandbox, c: SandboxContext): Promise<Response> => {
  const check = checkExtraction(sandbox, c);
  if (check instanceof Response) return check;
  const { target } = c.get('taskToken');
  const endsAt = sandbox.clock.now() + (durationFor(sandbox, target) ?? Number.POSITIVE_INFINITY);
  await sandbox.clock.until(endsAt, AbortSignal.any([c.req.raw.signal, sandbox.pending.signal]));
  const { status, body } = extractionAnswer(
    planOf(sandbox, target),
    { product: check.product, owner: target, entityId: check.entityId, at: sandbox.clock.now() },
    (data) => ({ taskStatus: 'success', taskStatusCode: 200, data }),
  );
  return plannedAnswer({ status, body });
};
