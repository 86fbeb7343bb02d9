import * as v from 'valibot';
import { parseAnswer } from './parse-answer.ts';
import { type Connection, sendRequest } from './send-request.ts';

const route = '/api/v1/auth/login';
const answerSchema = v.object({ token: v.pipe(v.string(), v.minLength(1)) });

/**
 * Exchanges the API key for a session token valid for `expireMinutes` ("Session token").
 * Throws ProviderUnauthorized for a wrong key, and the other ProviderErrors. Has no side effect that matters,
 * so every failure may be retried.
 */
export const logIn = async (
  connection: Connection,
  apiKey: string,
  expireMinutes: number,
): Promise<string> => {
  const bytes = await sendRequest(connection, {
    method: 'POST',
    path: route,
    route,
    headers: { 'X-API-Key': apiKey },
    body: { expire: expireMinutes },
  });
  return parseAnswer(bytes, answerSchema, route).token;
};
