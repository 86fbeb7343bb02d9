import { call } from './call-extractions.ts';

/** Calls a consent route for `target`. `path` starts after the API's address. */
export const callConsents = (
  method: 'GET' | 'POST',
  path: string,
  target: string,
  body?: unknown,
): Promise<Response> => call(method, path, { headers: { 'cosecha-target': target }, body });

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
