import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { signedFetch } from '../../../lib/aws/signed-fetch.ts';
import type { PublicExtraction } from '../../../lib/extraction/public-view.ts';
import { sandboxControl } from '../../sandbox/control-client.ts';
import type { Plan } from '../../sandbox/plan.ts';
import type { Caller } from '../deployment.ts';
import { documented } from './documented.ts';

const { api, callers, client, sandboxUrl } = inject('cosecha');

export const provider = sandboxControl(sandboxUrl);

const fetchAs = {
  caller: signedFetch({ region: client.region, credentials: callers.caller }),
  stranger: signedFetch({ region: client.region, credentials: callers.stranger }),
};

/** Stands in every credential that the tests send, so that it can be looked for where it must not be. */
export const passwordSentinel = 'sentinel-password-7d1f';

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
export const uniqueUsername = (): string => `user-${randomUUID()}`;

/** A username for which the provider behaves as planned. */
export const plannedUsername = async (plan: Plan): Promise<string> => {
  const username = uniqueUsername();
  await provider.setPlan(username, plan);
  return username;
};

export type PostOptions = { readonly as?: Caller; readonly idempotencyKey?: string };

export const post = async (
  body: unknown,
  { as = 'caller', idempotencyKey }: PostOptions = {},
): Promise<Response> => {
  const answer = await fetchAs[as](`${api}/extractions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return documented('POST', '/extractions', answer);
};

/** Requests an extraction and returns its id. Throws where it was not accepted. */
export const extract = async (body: Body, options?: PostOptions): Promise<string> => {
  const answer = await post(body, options);
  if (answer.status !== 202)
    throw new Error(`The request was answered ${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as PublicExtraction).extractionId;
};

export const read = async (extractionId: string, as: Caller = 'caller'): Promise<Response> => {
  const path = `/extractions/${extractionId}`;
  return documented('GET', path, await fetchAs[as](`${api}${path}`));
};

export const view = async (extractionId: string): Promise<PublicExtraction> => {
  const answer = await read(extractionId);
  if (answer.status !== 200)
    throw new Error(`The read was answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as PublicExtraction;
};

/** The start calls that reached the provider for a username. */
export const startCallsOf = async (username: string) =>
  (await provider.calls({ username, method: 'POST' })).filter(({ path }) => path === '/api/v2/tasks');
