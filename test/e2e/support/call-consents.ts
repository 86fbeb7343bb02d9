import { inject } from 'vitest';
import { signedFetch } from '#lib/client/signed-fetch.ts';
import { checkAgainstOpenapi } from './check-against-openapi.ts';
import { fetchInTime, retryOn5xx } from './retry-on-5xx.ts';

const { api, callers, client } = inject('cosecha');
const signed = fetchInTime(signedFetch({ region: client.region, credentials: callers.caller }));

/** Calls a consent route for `target`, signed, until the answer is no 5xx. `path` starts after the API's address. */
export const callConsents = (
  method: 'GET' | 'POST',
  path: string,
  target: string | undefined,
  body?: unknown,
): Promise<Response> => {
  const init = {
    method,
    headers: {
      ...(target === undefined ? {} : { 'cosecha-target': target }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  return retryOn5xx(async () => checkAgainstOpenapi(method, path, await signed(`${api}${path}`, init)));
};

/** How a first revocation is answered: 409 if a busy machine answered it 5xx once it was done, and it was repeated. */
export const revokedStatuses = [200, 409];

export type Session = { readonly otpToken: string; readonly consentId: string };

/** Opens a consent session. Throws if the answer is not 201. */
export const openSession = async (target: string, body: unknown): Promise<Session> => {
  const answer = await callConsents('POST', '/consent-sessions', target, body);
  if (answer.status !== 201)
    throw new Error(`The session was answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Session;
};
