import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { signedFetch } from '../../../lib/cli/aws/signed-fetch.ts';
import { extractionIdOf } from '../../../lib/extraction/api/idempotency.ts';
import type { PublicExtraction } from '../../../lib/extraction/api/public-view.ts';
import { sandboxControl } from '../../sandbox/control-client.ts';
import type { Plan } from '../../sandbox/plan.ts';
import type { Caller } from '../deployment.ts';
import { keepAnswer } from '../leaks/answers.ts';
import { waitMs } from '../windows.ts';
import { noteExtraction } from './current-test.ts';
import { documented } from './documented.ts';
import { limitTo } from './pace.ts';

const { api, callers, client, marks, sandboxUrl } = inject('cosecha');

const control = sandboxControl(sandboxUrl);

type Answered = Awaited<ReturnType<typeof control.deliver>>;
const kept = (answer: Answered): Answered => {
  const { status = 0, body = '' } = answer;
  keepAnswer(inject('cosecha').answersFile, { asked: 'POST /webhooks/provider', status, headers: {}, body });
  return answer;
};

/**
 * Repeats a call after a 5xx or where there was no answer, as a caller does (docs/api.md) and as the provider does with a
 * delivery ("Events" 7 and 8).
 */
const untilAnswered = async <Answer extends { readonly status?: number }>(
  ask: () => Promise<Answer>,
): Promise<Answer> => {
  let answer = await ask();
  for (let repeats = 0; (answer.status ?? 500) >= 500 && repeats < 20; repeats += 1) answer = await ask();
  return answer;
};

const deliverTaskOnce = async (...order: Parameters<typeof control.deliverTask>) =>
  kept(await control.deliverTask(...order));

/** The provider, by its control interface. What the service answers its deliveries is kept, and searched later. */
export const provider = {
  ...control,
  deliver: (...order: Parameters<typeof control.deliver>) =>
    untilAnswered(async () => kept(await control.deliver(...order))),
  deliverTask: (...order: Parameters<typeof control.deliverTask>) =>
    untilAnswered(() => deliverTaskOnce(...order)),
  /** Answered or not. */
  deliverTaskOnce,
};

const fetchAs = {
  caller: signedFetch({ region: client.region, credentials: callers.caller }),
  stranger: signedFetch({ region: client.region, credentials: callers.stranger }),
};

/** Resolves once the provider makes no further delivery for a task. */
export const deliveriesEnded = (taskId: string) =>
  provider.waitForEvent('deliveries-ended', (event) => event.taskId === taskId, { timeoutMs: waitMs });

/** Stands in every credential that the tests send, so that it can be looked for where it must not be. */
export const passwordSentinel = marks.password;

export const movement = {
  id: 'movement',
  params: { dateRange: { startDate: '2026-01-01', endDate: '2026-01-31' } },
} as const;

export type Body = Record<string, unknown>;

/** A valid request for the credentials that a scenario, and its plan at the provider, is known by. */
export const requestFor = (username: string, more: Body = {}): Body => ({
  entity: 'sandbox-bank',
  credentials: { mode: 'raw', value: { username, password: passwordSentinel } },
  actions: [{ id: 'product-balance' }, movement],
  ...more,
});

/** A username that no other scenario has, so that scenarios run side by side. */
export const uniqueUsername = (): string => `${marks.username}-${randomUUID()}`;

/** A username for which the provider behaves as planned. */
export const plannedUsername = async (plan: Plan): Promise<string> => {
  const username = uniqueUsername();
  await provider.setPlan(username, plan);
  return username;
};

/** The caller of the API as the emulator names it, so that an id is known before the request is made. */
export const callerArn = 'arn:aws:iam::000000000000:user/caller';

export const extractionIdForKey = (idempotencyKey: string): string =>
  extractionIdOf(callerArn, idempotencyKey);

/**
 * The emulator starts a process for every invocation that finds none free; on 2 cores, more than this at once only
 * wait for each other.
 */
const paced = limitTo(4);

export type PostOptions = { readonly as?: Caller; readonly idempotencyKey?: string };

export const post = async (
  body: unknown,
  { as = 'caller', idempotencyKey }: PostOptions = {},
): Promise<Response> => {
  const send = () =>
    fetchAs[as](`${api}/extractions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const answer = await paced(send);
  return documented('POST', '/extractions', answer);
};

/** Requests an extraction, under a key of its own if none is given, and returns its id. Throws if it is refused. */
export const extract = async (
  body: Body,
  { idempotencyKey = randomUUID(), ...options }: PostOptions = {},
): Promise<string> => {
  const answer = await untilAnswered(() => post(body, { idempotencyKey, ...options }));
  if (!answer.ok) throw new Error(`The request was answered ${answer.status}: ${await answer.text()}`);
  const { extractionId } = (await answer.json()) as PublicExtraction;
  noteExtraction(extractionId);
  return extractionId;
};

export const read = async (extractionId: string, as: Caller = 'caller'): Promise<Response> => {
  const path = `/extractions/${extractionId}`;
  return documented('GET', path, await fetchAs[as](`${api}${path}`));
};

export const view = async (extractionId: string): Promise<PublicExtraction> => {
  const answer = await untilAnswered(() => read(extractionId));
  if (answer.status !== 200)
    throw new Error(`The read was answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as PublicExtraction;
};

/** The start calls, of any kind, that reached the provider for a username or a national id. */
export const startCallsOf = async (username: string) =>
  (await provider.calls({ username, method: 'POST' })).filter(({ path }) => path.endsWith('/tasks'));

/** Those of them that may have started something: 401 and 429 say that they have not. */
export const takenStartsOf = async (username: string) =>
  (await startCallsOf(username)).filter(({ status }) => status !== 401 && status !== 429);
