import * as v from 'valibot';
import { encryptRawCredentials } from '../encrypt-raw-credentials.ts';
import { answerTaskId } from '../transport/answer-fields.ts';
import { requestAnswer } from '../transport/parse-answer.ts';
import { bearer } from '../transport/request-fields.ts';
import type { Connection } from '../transport/send-request.ts';
import { checkTaskRequest, type TaskRequest } from './task-request.ts';

const route = '/api/v2/tasks';

const answerSchema = v.object({ taskId: answerTaskId });

/**
 * Starts a v2 task ("Start task (v2)") and returns its taskId. The call is not idempotent. After ProviderAmbiguous or
 * ProviderAnswerTooLarge a task may exist, so never repeat the call. A 2xx without a valid taskId is ProviderAmbiguous.
 * If the connection has `encryptRawCredentials`, raw credentials are encrypted here, because the session token of the
 * call is the key. Throws InvalidProviderRequest before anything is sent.
 */
export const startTask = async (
  connection: Connection,
  sessionToken: string,
  request: TaskRequest,
): Promise<string> => {
  checkTaskRequest(request);
  const { taskId } = await requestAnswer(connection, answerSchema, {
    method: 'POST',
    path: route,
    route,
    headers: bearer(sessionToken),
    body: connection.encryptRawCredentials === true ? encryptRawCredentials(request, sessionToken) : request,
  });
  return taskId;
};
