import { isDeepStrictEqual } from 'node:util';
import { signDelivery } from '../../cli/operate/delivery.ts';
import { type Check, passed, webhookArrives } from './check.ts';
import type { AcceptContext } from './context.ts';
import { extract, isDone, readExtraction, readUntil, requestOf } from './extractions.ts';
import { Unmet } from './unmet.ts';

/** As often as the provider at most: "`retries` … range 1..5" ("Events", rule 2). */
const mostAttempts = 5;

/**
 * POST to the webhook, as the provider would, and again after an answer 5xx, such as API Gateway's 503 for a throttled
 * function. Returns the status of the last answer.
 */
export const deliver = async (context: AcceptContext, body: string, signature: string): Promise<number> => {
  for (let attempt = 1; ; attempt += 1) {
    const status = await post(context, body, signature);
    if (status < 500 || attempt === mostAttempts) return status;
    await context.sleep(1_000);
  }
};

const post = async (
  { deployment, signal }: AcceptContext,
  body: string,
  signature: string,
): Promise<number> => {
  const answer = await fetch(deployment.api.webhookUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-signature': signature },
    body,
    signal,
  });
  await answer.body?.cancel();
  return answer.status;
};

const expectAnswer = (what: string, answer: number, expected: number): void => {
  if (answer === expected) return;
  throw new Unmet(
    `${what} was answered ${answer}, not ${expected}. The log of receive-webhook has the cause.`,
  );
};

/** A running extraction whose task never ends, and its task. */
const running = async (context: AcceptContext, checkId: string) => {
  const scenario = { endsAfter: 'never', webhook: 'lost' } as const;
  const extractionId = await extract(context, requestOf(checkId, scenario));
  const before = await readUntil(context, extractionId, 'RUNNING', ({ status }) => status === 'RUNNING');
  return { extractionId, taskId: before.taskId ?? '', before };
};

/** Throws Unmet unless an extraction is still as it was before. */
const expectUnchanged = async (
  context: AcceptContext,
  before: Awaited<ReturnType<typeof readExtraction>>,
): Promise<void> => {
  const after = await readExtraction(context, before.extractionId);
  // The presigned URL is new in every answer.
  const comparable = ({ results: _results, ...rest }: typeof before) => rest;
  if (isDeepStrictEqual(comparable(after), comparable(before))) return;
  throw new Unmet(
    `Extraction ${before.extractionId} changed: it was ${before.status}, and is ${after.status}. \`cosecha get ${before.extractionId}\` has the rest.`,
  );
};

export const webhookForged: Check = {
  id: 'webhook-forged',
  title: 'A forged webhook is answered 401 and changes nothing',
  turn: 'together',
  seconds: () => 60,
  run: async (context) => {
    const { before, taskId } = await running(context, 'webhook-forged');
    const payload = { taskId, taskStatus: 'COMPLETED' };
    for (const encrypted of [false, true]) {
      const { body, signature } = signDelivery(payload, context.randomId(), { encrypted });
      expectAnswer('A webhook signed with a wrong key', await deliver(context, body, signature), 401);
    }
    const genuine = signDelivery(payload, context.fakeProvider.keys().signingKey, { encrypted: false });
    const changed = genuine.body.replace('COMPLETED', 'FAILED');
    expectAnswer('A changed webhook', await deliver(context, changed, genuine.signature), 401);
    await expectUnchanged(context, before);
    // Otherwise a webhook that refuses everything would pass.
    expectAnswer('The genuine webhook', await deliver(context, genuine.body, genuine.signature), 204);
    return passed(
      '401 for a wrong key, plain and encrypted, and for a changed body; 204 for the genuine one',
    );
  },
};

export const webhookReplayed: Check = {
  id: 'webhook-replayed',
  title: 'A replayed or contradictory webhook is answered 204 and changes nothing',
  turn: 'together',
  dependsOn: webhookArrives,
  seconds: () => 90,
  run: async (context) => {
    const extractionId = await extract(context, requestOf('webhook-replayed', { outcome: 'PARTIAL' }));
    const before = await readUntil(context, extractionId, 'PARTIAL and collected', isDone);
    for (const taskStatus of ['PARTIAL', 'FAILED']) {
      const payload = { taskId: before.taskId ?? '', taskStatus };
      const { body, signature } = signDelivery(payload, context.fakeProvider.keys().signingKey, {
        encrypted: false,
      });
      expectAnswer(`A later webhook with ${taskStatus}`, await deliver(context, body, signature), 204);
    }
    await expectUnchanged(context, before);
    return passed('204 for a repetition and for another status; the first status stays');
  },
};

/** The webhook takes 16 KiB. */
const oversizedBytes = 17 * 1_024;

export const webhookOversized: Check = {
  id: 'webhook-oversized',
  title: 'An oversized webhook is answered 413 and changes nothing, even if its signature is valid',
  turn: 'together',
  seconds: () => 60,
  run: async (context) => {
    const { before, taskId } = await running(context, 'webhook-oversized');
    const payload = { taskId, taskStatus: 'COMPLETED', padding: 'x'.repeat(oversizedBytes) };
    const { body, signature } = signDelivery(payload, context.fakeProvider.keys().signingKey, {
      encrypted: false,
    });
    expectAnswer('A webhook of 17 KiB', await deliver(context, body, signature), 413);
    await expectUnchanged(context, before);
    return passed('413 for a signed body of 17 KiB');
  },
};

export const signingKeyRotation: Check = {
  id: 'signing-key-rotation',
  title: 'Webhooks under the new signing key and the one before it are accepted during a rotation',
  turn: 'alone',
  dependsOn: webhookArrives,
  seconds: () => 90,
  run: async (context) => {
    const { fakeProvider, randomId } = context;
    const before = fakeProvider.keys();
    // Before the rotation, so that start-task links its task while the old key is the only one.
    const { extractionId, taskId } = await running(context, 'signing-key-rotation');
    await fakeProvider.share({ ...before, signingKey: `${randomId()}${randomId()}` });
    const settled = await extract(context, requestOf('signing-key-rotation', { endsAfter: 3 }));
    const done = await readUntil(context, settled, 'COMPLETED by a webhook under the new key', isDone);
    if (done.settledBy !== 'webhook') {
      throw new Unmet(
        `Extraction ${settled} was settled by ${String(done.settledBy)}, not by its webhook under the new key. The log of receive-webhook has the cause.`,
      );
    }
    const old = signDelivery({ taskId, taskStatus: 'CREDENTIALS_LOCKED' }, before.signingKey, {
      encrypted: true,
    });
    expectAnswer('A webhook under the previous key', await deliver(context, old.body, old.signature), 204);
    await readUntil(
      context,
      extractionId,
      'CREDENTIALS_LOCKED',
      ({ status }) => status === 'CREDENTIALS_LOCKED',
    );
    return passed('the webhooks under both keys settled their extractions');
  },
};
