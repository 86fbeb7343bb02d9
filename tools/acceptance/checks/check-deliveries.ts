import { isDeepStrictEqual } from 'node:util';
import { type SignedDelivery, signDelivery } from '../../cli/operate/sign-delivery.ts';
import { discardBody } from '../../cli/terminal/answer-body.ts';
import type { Scenario } from '../fake-provider/function/scenario.ts';
import { fetchAgain } from './call-deployed-api.ts';
import { type AcceptContext, type Check, passed, Unmet, webhookArrives } from './check.ts';
import {
  expectOutcome,
  extract,
  extractUntilDone,
  readExtraction,
  readUntil,
  requestOf,
} from './request-and-await.ts';

/** As often as the provider at most: "`retries` … range 1..5" ("Events", rule 2). */
const maxAttempts = 5;

/** POST to the webhook, as the provider would. Returns the status of the last answer. */
const deliver = async ({ deployment, signal, sleep }: AcceptContext, { body, signature }: SignedDelivery) => {
  const headers = { 'content-type': 'application/json', 'x-service-signature': signature };
  const post = () => fetch(deployment.api.webhookUrl, { method: 'POST', headers, body, signal });
  const answer = await fetchAgain(post, sleep, maxAttempts);
  await discardBody(answer);
  return answer.status;
};

type Payload = Parameters<typeof signDelivery>[0];

/** Delivers a webhook, signed with this key. Throws Unmet unless it is answered so. */
export const expectAnswer = async (
  context: AcceptContext,
  what: string,
  expected: number,
  payload: Payload,
  { key = context.fakeProvider.keys().signingKey, encrypted = false } = {},
): Promise<void> => {
  expectStatus(what, await deliver(context, signDelivery(payload, key, { encrypted })), expected);
};

const expectStatus = (what: string, status: number, expected: number): void => {
  if (status === expected) return;
  throw new Unmet(
    `${what} was answered ${status}, not ${expected}. The log of receive-webhook has the cause.`,
  );
};

/** A running extraction whose webhook is lost, and its task. */
export const running = async (context: AcceptContext, checkId: string, scenario: Partial<Scenario> = {}) => {
  const extractionId = await extract(context, requestOf(checkId, { webhook: 'lost', ...scenario }));
  const before = await readUntil(context, extractionId, 'RUNNING', ({ status }) => status === 'RUNNING');
  return { extractionId, taskId: before.taskId ?? '', before };
};

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

const endless = { endsAfter: 'never' } as const;

export const webhookForged: Check = {
  id: 'webhook-forged',
  title: 'A forged webhook is answered 401 and changes nothing',
  run: async (context) => {
    const { before, taskId } = await running(context, 'webhook-forged', endless);
    const payload = { taskId, taskStatus: 'COMPLETED' };
    for (const encrypted of [false, true]) {
      const wrong = { key: context.randomId(), encrypted };
      await expectAnswer(context, 'A webhook signed with a wrong key', 401, payload, wrong);
    }
    const genuine = signDelivery(payload, context.fakeProvider.keys().signingKey, { encrypted: false });
    const changed = { ...genuine, body: genuine.body.replace('COMPLETED', 'FAILED') };
    expectStatus('A changed webhook', await deliver(context, changed), 401);
    await expectUnchanged(context, before);
    // Otherwise a webhook that refuses everything would pass.
    await expectAnswer(context, 'The genuine webhook', 204, payload);
    return passed(
      '401 for a wrong key, plain and encrypted, and for a changed body; 204 for the genuine one',
    );
  },
};

export const webhookReplayed: Check = {
  id: 'webhook-replayed',
  title: 'A replayed or contradictory webhook is answered 204 and changes nothing',
  dependsOn: webhookArrives,
  seconds: () => 90,
  run: async (context) => {
    const scenario = { outcome: 'PARTIAL' } as const;
    const before = await extractUntilDone(context, 'webhook-replayed', scenario, 'PARTIAL and collected');
    const { taskId = '' } = before;
    for (const taskStatus of ['PARTIAL', 'FAILED']) {
      await expectAnswer(context, `A later webhook with ${taskStatus}`, 204, { taskId, taskStatus });
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
  run: async (context) => {
    const { before, taskId } = await running(context, 'webhook-oversized', endless);
    const payload = { taskId, taskStatus: 'COMPLETED', padding: 'x'.repeat(oversizedBytes) };
    await expectAnswer(context, 'A webhook of 17 KiB', 413, payload);
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
    const { extractionId, taskId } = await running(context, 'signing-key-rotation', endless);
    await fakeProvider.share({ ...before, signingKey: `${randomId()}${randomId()}` });
    const what = 'COMPLETED by a webhook under the new key';
    const done = await extractUntilDone(context, 'signing-key-rotation', { endsAfter: 3 }, what);
    expectOutcome(done, 'COMPLETED', 'webhook', 'The log of receive-webhook has the cause.');
    const taskStatus = 'CREDENTIALS_LOCKED';
    const old = { key: before.signingKey, encrypted: true };
    await expectAnswer(context, 'A webhook under the previous key', 204, { taskId, taskStatus }, old);
    await readUntil(context, extractionId, taskStatus, ({ status }) => status === taskStatus);
    return passed('the webhooks under both keys settled their extractions');
  },
};
