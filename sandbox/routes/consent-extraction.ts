import type { Hono } from 'hono';
import * as v from 'valibot';
import { consentStateAt, namedConsentOf } from '../consents/consent-state.ts';
import { extractionAnswer } from '../consents/extraction-answer.ts';
import { PRODUCTS } from '../entities.ts';
import { planOf, resultsShown } from '../planned-behaviour.ts';
import { addMarker } from '../results/build-results.ts';
import type { ConsentTaskRequest, Sandbox } from '../state-types.ts';
import { createPolledTask } from '../tasks/create-task.ts';
import { durationFor, hasExpired, progressAt } from '../tasks/task-timing.ts';
import { requireTaskToken } from '../transport/authenticate.ts';
import type { SandboxContext, SandboxEnv } from '../transport/hono-types.ts';
import { plannedAnswer } from '../transport/misbehave.ts';
import { bodyOf } from '../transport/read-json.ts';
import { consentRefused } from '../transport/refusal.ts';
import { answerRead, answerStart } from './answer-as-planned.ts';

const ExtractionSchema = v.strictObject({
  product: v.picklist(PRODUCTS),
  consentId: v.pipe(v.string(), v.uuid()),
});

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
export const addConsentExtractionRoutes = (app: Hono<SandboxEnv>, sandbox: Sandbox): void => {
  app.use('/api/:version/products/retrieve-data/*', requireTaskToken(sandbox));
  for (const bodies of [v1, v2]) {
    const path = `/api/${bodies.version}/products/retrieve-data/tasks`;
    app.post(path, (c) => start(sandbox, c, bodies));
    app.get(`${path}/:taskId`, (c) => poll(sandbox, c, bodies, c.req.param('taskId') ?? ''));
  }
  app.post('/api/v1/products/retrieve-data', (c) => retrieveNow(sandbox, c));
};

/** What the request names: a product that the Task Token's user has authorized in an active consent. */
const requestedExtraction = (sandbox: Sandbox, c: SandboxContext) => {
  const { product, consentId } = bodyOf(c, ExtractionSchema);
  c.get('call').consentId = consentId;
  c.get('reportReceived')();
  const consent = namedConsentOf(sandbox, consentId, c.get('taskToken'));
  if (consentStateAt(consent, sandbox.clock.now()).status !== 'ACTIVE') {
    throw consentRefused(403, 'CONSENT', 'The consent is not active', 'CONSENT_NOT_ACTIVE');
  }
  if (!consent.products.includes(product)) {
    throw consentRefused(
      403,
      'CONSENT',
      'The user has not authorized this product',
      'PRODUCT_NOT_AUTHORIZED',
    );
  }
  return { product, consentId, entityId: consent.entity.id };
};

const start = (sandbox: Sandbox, c: SandboxContext, { version, started }: Bodies): Promise<Response> => {
  const requested = requestedExtraction(sandbox, c);
  const token = c.get('taskToken');
  const { clientId, target: username } = token;
  return answerStart(sandbox, c, {
    username,
    token,
    started,
    accept: () =>
      createPolledTask(sandbox, { clientId, username, asked: { kind: 'consent', version, ...requested } }),
  });
};

const poll = (
  sandbox: Sandbox,
  c: SandboxContext,
  { version, inProgress, finished }: Bodies,
  taskId: string,
): Response | Promise<Response> => {
  const task = sandbox.polledTasks.get(taskId);
  const token = c.get('taskToken');
  c.get('call').taskId = taskId;
  if (
    task?.asked.kind !== 'consent' ||
    task.asked.version !== version ||
    task.clientId !== token.clientId ||
    task.username !== token.target ||
    hasExpired(sandbox, task)
  ) {
    throw consentRefused(404, 'TASK', 'There is no such task', 'TASK_NOT_FOUND');
  }
  const { username, asked } = task;
  c.get('call').consentId = asked.consentId;
  c.get('reportReceived')();
  const now = sandbox.clock.now();
  const progress = progressAt(task, now);
  const endedAt = task.endsAt ?? now;
  const answer =
    progress === 'ended'
      ? extractionAnswer(planOf(sandbox, username), { ...asked, owner: username, at: endedAt }, (data) =>
          finished(resultsShown(sandbox, username, { endedAt, results: addMarker(sandbox, username, data) })),
        )
      : { status: 202, body: inProgress(progress) };
  return answerRead(sandbox, c, { username, token, ...answer });
};

/** "Retrieve data, synchronous (deprecated)": it takes as long as a task. */
const retrieveNow = async (sandbox: Sandbox, c: SandboxContext): Promise<Response> => {
  const { product, entityId } = requestedExtraction(sandbox, c);
  const { target: owner } = c.get('taskToken');
  const endsAt = sandbox.clock.now() + (durationFor(sandbox, owner) ?? Number.POSITIVE_INFINITY);
  await sandbox.clock.until(endsAt, AbortSignal.any([c.req.raw.signal, sandbox.pending.signal]));
  const source = { product, owner, entityId, at: sandbox.clock.now() };
  return plannedAnswer(
    extractionAnswer(planOf(sandbox, owner), source, (data) => ({
      taskStatus: 'success',
      taskStatusCode: 200,
      data,
    })),
  );
};
