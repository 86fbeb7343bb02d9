import * as v from 'valibot';
import { answerText } from '../transport/answer-field-schemas.ts';
import { checkRequest } from '../transport/check-request.ts';
import { requestAnswer } from '../transport/parse-answer.ts';
import { positiveInteger } from '../transport/request-field-schemas.ts';
import type { Connection } from '../transport/send-request.ts';

const route = '/api/v1/auth/login';
const requestSchema = v.object({ expire: v.optional(positiveInteger) });
const answerSchema = v.object({ token: answerText });

/**
 * Exchanges the API key for a session token that is valid for `expireMinutes`, 60 by default ("Session token"). Throws
 * ProviderUnauthorized for a wrong API key, and the other ProviderErrors. Every failed login can be repeated.
 */
export const logIn = async (
  connection: Connection,
  apiKey: string,
  expireMinutes?: number,
): Promise<string> => {
  const body = expireMinutes === undefined ? {} : { expire: expireMinutes };
  checkRequest(requestSchema, body, route);
  const { token } = await requestAnswer(connection, answerSchema, {
    method: 'POST',
    path: route,
    route,
    headers: { 'X-API-Key': apiKey },
    body,
  });
  return token;
};
