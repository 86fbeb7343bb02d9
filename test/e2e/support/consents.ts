import { inject } from 'vitest';
import { signedFetch } from '../../../lib/cli/aws/signed-fetch.ts';
import { documented } from './documented.ts';

const { api, callers, client } = inject('cosecha');
const signed = signedFetch({ region: client.region, credentials: callers.caller });

/** Calls a route of the consents, signed, about `target`. `path` starts after the API's address. */
export const askConsents = async (
  method: 'GET' | 'POST',
  path: string,
  target: string | undefined,
  body?: unknown,
): Promise<Response> => {
  const answer = await signed(`${api}${path}`, {
    method,
    headers: {
      ...(target === undefined ? {} : { 'cosecha-target': target }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return documented(method, path, answer);
};

export type Session = { readonly otpToken: string; readonly consentId: string };

/** Opens a consent session. Throws where the service did not. */
export const openSession = async (target: string, body: unknown): Promise<Session> => {
  const answer = await askConsents('POST', '/consent-sessions', target, body);
  if (answer.status !== 201)
    throw new Error(`The session was answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Session;
};
