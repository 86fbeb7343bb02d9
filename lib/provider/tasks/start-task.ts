import * as v from 'valibot';
import { encryptRawCredentials } from '../encrypt-raw-credentials.ts';
import { answerTaskId } from '../transport/answer-fields.ts';
import { bearer } from '../transport/bearer.ts';
import { requestAnswer } from '../transport/parse-answer.ts';
import type { Connection } from '../transport/send-request.ts';
import { checkTaskRequest, type TaskRequest } from './task-request.ts';

const route = '/api/v2/tasks';

const answerSchema = v.object({ taskId: answerTaskId });

/**
 * Starts a v2 task ("Start task (v2)") and returns its taskId. A 2xx without a valid taskId is
 * ProviderAmbiguous, as a task may exist then. The call is not idempotent at the provider: after
 * ProviderAmbiguous or ProviderAnswerTooLarge it must not be made again. Raw credentials are encrypted here, where
 * the connection says so, as the ciphertext is keyed by the very token that the call bears. Throws InvalidProviderRequest before
 * anything leaves.
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
