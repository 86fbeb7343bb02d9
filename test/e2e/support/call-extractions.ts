import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { signedFetch } from '#lib/client/signed-fetch.ts';
import { defined } from '#lib/defined.ts';
import { extractionIdOf } from '#lib/extraction/api/idempotency.ts';
import type { PublicExtraction } from '#lib/extraction/api/public-view.ts';
import { sandboxControl } from '../../../sandbox/control-client.ts';
import type { Plan } from '../../../sandbox/plan-schemas.ts';
import { limitParallelCalls } from '../../../tools/cli/operate/limit-parallel-calls.ts';
import type { Caller } from '../deployment.ts';
import { keepAnswer } from '../leaks/kept-answers.ts';
import { answerMs, waitMs } from '../time-limits.ts';
import { checkAgainstOpenapi } from './check-against-openapi.ts';
import { noteExtraction } from './records.ts';
import { retryOn5xx } from './retry-on-5xx.ts';

const { api, callers, client, markers, sandboxUrl } = inject('cosecha');

const control = sandboxControl(sandboxUrl);

type WebhookAnswer = Awaited<ReturnType<typeof control.deliver>>;
const kept = (answer: WebhookAnswer): WebhookAnswer => {
  const { status = 0, body = '' } = answer;
  const request = 'POST /webhooks/provider';
  keepAnswer(inject('cosecha').answersFile, { request, status, headers: {}, body });
  return answer;
};

/** The provider's control interface. It keeps the answers to its deliveries for the search for leaks. */
export const provider = {
  ...control,
  deliver: (...input: Parameters<typeof control.deliver>) =>
    retryOn5xx(async () => kept(await control.deliver(...input))),
  deliverTask: (...input: Parameters<typeof control.deliverTask>) =>
    retryOn5xx(async () => kept(await control.deliverTask(...input))),
};

const fetchAs = {
  caller: signedFetch({ region: client.region, credentials: callers.caller }),
  stranger: signedFetch({ region: client.region, credentials: callers.stranger }),
};

/** Resolves once the provider makes no further delivery for a task. */
export const deliveriesEnded = (taskId: string) =>
  provider.waitForEvent('deliveries-ended', (event) => event.taskId === taskId, { timeoutMs: waitMs });

/** Part of every credential that the tests send. The search for leaks searches for it. */
export const passwordSentinel = markers.password;

const movement = {
  id: 'movement',
  params: { dateRange: { startDate: '2026-01-01', endDate: '2026-01-31' } },
} as const;

export type Body = Record<string, unknown>;

/** A valid request with these credentials. The provider's plans are by username. */
export const requestFor = (username: string, more: Body = {}): Body => ({
  entity: 'sandbox-bank',
  credentials: { mode: 'raw', value: { username, password: passwordSentinel } },
  actions: [{ id: 'product-balance' }, movement],
  ...more,
});

/** A username that no other test has, so that tests run concurrently. */
export const uniqueUsername = (): string => `${markers.username}-${randomUUID()}`;

/** A username for which the provider behaves as planned. */
export const plannedUsername = async (plan: Plan): Promise<string> => {
  const username = uniqueUsername();
  await provider.setPlan(username, plan);
  return username;
};

/** The ARN that the emulator gives the caller. With it an extraction's id is known before the request. */
export const callerArn = 'arn:aws:iam::000000000000:user/caller';

export const extractionIdForKey = (idempotencyKey: string): string =>
  extractionIdOf(callerArn, idempotencyKey);

/** The emulator starts a process for every concurrent invocation. More than this at once are not faster on 2 cores. */
const paced = limitParallelCalls(4);

type CallOptions = {
  readonly caller?: Caller;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text is sent as it is. */
  readonly body?: unknown;
};

/** Calls a route of the API once, signed, and checks the answer against docs/openapi.yaml. */
const callOnce = async (
  method: 'GET' | 'POST',
  path: string,
  { caller = 'caller', headers = {}, body }: CallOptions,
): Promise<Response> => {
  const json = body === undefined ? {} : { 'content-type': 'application/json' };
  const text = typeof body === 'object' ? JSON.stringify(body) : (body as string | undefined);
  // Without a limit, a request that is not answered would end as a test that took too long, without a name.
  const signal = AbortSignal.timeout(answerMs);
  const init = { method, headers: { ...json, ...headers }, signal, ...defined({ body: text }) };
  return checkAgainstOpenapi(method, path, await fetchAs[caller](`${api}${path}`, init));
};

/** Calls a route until the answer is no 5xx. */
export const call = (...request: Parameters<typeof callOnce>): Promise<Response> =>
  retryOn5xx(() => callOnce(...request));

type PostOptions = {
  readonly caller?: Caller;
  readonly idempotencyKey?: string;
  readonly traceparent?: string;
};

/** Sends one POST /extractions, whatever the answer. */
export const postOnce = (
  body: unknown,
  { caller = 'caller', idempotencyKey, traceparent }: PostOptions = {},
): Promise<Response> => {
  const headers = defined({ 'idempotency-key': idempotencyKey, traceparent });
  return paced(() => callOnce('POST', '/extractions', { caller, headers, body }));
};

/** Sends POST /extractions until the answer is no 5xx. */
export const post = (body: unknown, options: PostOptions = {}): Promise<Response> =>
  retryOn5xx(() => postOnce(body, options));

/** Requests an extraction, by default under a new idempotency key, and returns its id. Throws if it is refused. */
export const extract = async (
  body: Body,
  { idempotencyKey = randomUUID(), ...options }: PostOptions = {},
): Promise<string> => {
  const answer = await post(body, { idempotencyKey, ...options });
  if (!answer.ok) throw new Error(`The request was answered ${answer.status}: ${await answer.text()}`);
  const { extractionId } = (await answer.json()) as PublicExtraction;
  noteExtraction(extractionId);
  return extractionId;
};

/** Requests an extraction of a new user, for whom the provider behaves as planned. */
export const extractWith = async (plan: Plan, more: Body = {}) => {
  const username = await plannedUsername(plan);
  return { username, extractionId: await extract(requestFor(username, more)) };
};

export const askToErase = (body: Body, caller: Caller = 'caller'): Promise<Response> =>
  call('POST', '/erasures', { caller, body });

export const readErasure = (erasureId: string, caller: Caller = 'caller'): Promise<Response> =>
  call('GET', `/erasures/${erasureId}`, { caller });

export const read = (extractionId: string): Promise<Response> =>
  call('GET', `/extractions/${extractionId}`, {});

export const find = (query: string, caller: Caller = 'caller'): Promise<Response> =>
  call('GET', `/extractions?${query}`, { caller });

export const summaryOf = async (batch: string, caller: Caller = 'caller'): Promise<unknown> =>
  (await call('GET', `/extractions/summary?batch=${encodeURIComponent(batch)}`, { caller })).json();

/** An extraction as GET /extractions/{extractionId} shows it. */
export const view = async (extractionId: string): Promise<PublicExtraction> => {
  const answer = await read(extractionId);
  if (answer.status !== 200)
    throw new Error(`The read was answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as PublicExtraction;
};

/** The start calls of every method that the provider received for a username or a national id. */
export const startCallsOf = async (username: string) =>
  (await provider.calls({ username, method: 'POST' })).filter(({ path }) => path.endsWith('/tasks'));

/** The start calls that may have started a task. After 401 and 429 none was started. */
export const possiblyAcceptedStartsOf = async (username: string) =>
  (await startCallsOf(username)).filter(({ status }) => status !== 401 && status !== 429);
