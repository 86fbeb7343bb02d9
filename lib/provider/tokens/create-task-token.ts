import * as v from 'valibot';
import { answerText } from '../transport/answer-field-schemas.ts';
import { checkRequest } from '../transport/check-request.ts';
import { requestAnswer } from '../transport/parse-answer.ts';
import { nationalIdField, textField } from '../transport/request-field-schemas.ts';
import type { Connection } from '../transport/send-request.ts';

const route = '/api/v1/token/task';

/** "Create Task Token". `target` is the national id of the natural person or the company. */
export type TaskTokenRequest = { readonly target: string; readonly clientId: string };

/** A Task Token and its user. It allows access only to that user's consents and authorized products. */
export type TaskToken = { readonly target: string; readonly taskToken: string };

const requestSchema = v.object({ target: nationalIdField, clientId: textField });
const answerSchema = v.object({ data: v.object({ taskToken: answerText }) });

/** Throws InvalidProviderRequest, ProviderUnauthorized for a wrong API key, and the other ProviderErrors. */
export const createTaskToken = async (
  connection: Connection,
  apiKey: string,
  request: TaskTokenRequest,
): Promise<TaskToken> => {
  checkRequest(requestSchema, request, route);
  const { data } = await requestAnswer(connection, answerSchema, {
    method: 'POST',
    path: route,
    route,
    headers: { 'x-api-key': apiKey },
    body: request,
  });
  return { target: request.target, taskToken: data.taskToken };
};
