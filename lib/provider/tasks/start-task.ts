import * as v from 'valibot';
import { statusesWithTexts } from '../assumptions.ts';
import { encryptRawCredentials } from '../encrypt-raw-credentials.ts';
import { explainLegacyRefusal } from '../legacy/explain-legacy-refusal.ts';
import { answerTaskId } from '../transport/answer-field-schemas.ts';
import { requestAnswer } from '../transport/parse-answer.ts';
import { bearer } from '../transport/request-field-schemas.ts';
import type { Connection, ProviderRequest } from '../transport/send-request.ts';
import { checkTaskRequest, type TaskRequest } from './check-task-request.ts';

const route = '/api/v2/tasks';

const answerSchema = v.object({ taskId: answerTaskId });

/**
 * Starts a v2 task ("Start task (v2)") and returns its taskId. The call is not idempotent. After ProviderAmbiguous or
 * ProviderAnswerTooLarge a task may exist, so never repeat the call. A 2xx without a valid taskId is ProviderAmbiguous.
 * If the connection has `encryptRawCredentials`, raw credentials are encrypted here, because the session token of the
 * call is the key. Throws InvalidProviderRequest before anything is sent. `whenRefused` is called as soon as a status that is not 2xx
 * has come: an error for a documented text has its name in `refusal`, and its body is still to be read.
 */
export const startTask = async (
  connection: Connection,
  sessionToken: string,
  request: TaskRequest,
  { whenRefused }: Pick<ProviderRequest, 'whenRefused'> = {},
): Promise<string> => {
  checkTaskRequest(request);
  const { taskId } = await requestAnswer(connection, answerSchema, {
    method: 'POST',
    path: route,
    route,
    headers: bearer(sessionToken),
    body: connection.encryptRawCredentials === true ? encryptRawCredentials(request, sessionToken) : request,
    explain: explainLegacyRefusal,
    explainOnly: statusesWithTexts.task,
    whenRefused,
  });
  return taskId;
};
