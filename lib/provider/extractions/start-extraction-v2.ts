import * as v from 'valibot';
import { statusesWithTexts } from '../assumptions.ts';
import { explainLegacyRefusal } from '../legacy/explain-legacy-refusal.ts';
import { answerTaskId } from '../transport/answer-field-schemas.ts';
import { checkRequest } from '../transport/check-request.ts';
import { endpointOf } from '../transport/endpoint-path.ts';
import { requestAnswer } from '../transport/parse-answer.ts';
import { bearer } from '../transport/request-field-schemas.ts';
import type { Connection, ProviderRequest } from '../transport/send-request.ts';
import { parseExtractionFailure } from './parse-extraction-failure.ts';
import { type StartExtractionRequest, startExtractionRequestSchema } from './start-extraction.ts';

const explain: NonNullable<ProviderRequest['explain']> = (status, body, call) => {
  const hasTexts = (statusesWithTexts.consent as readonly number[]).includes(status);
  const refusal = hasTexts ? explainLegacyRefusal(status, body, call) : undefined;
  return refusal?.refusal === undefined ? parseExtractionFailure(status, body, call) : refusal;
};

const answerSchema = v.object({ data: v.object({ taskId: answerTaskId }) });

/**
 * Starts an extraction in the v2 variant and returns its taskId ("v2 consent-based extraction"). "200 means only that
 * the task was created". The body is assumed to be the same as in v1, and `Connection.endpoints` can replace the
 * endpoint. Throws ProviderExtractionFailed if the answer has an `errorType`, and the other ProviderErrors.
 * `whenRefused`: see `startTask`.
 */
export const startExtractionV2 = async (
  connection: Connection,
  taskToken: string,
  request: StartExtractionRequest,
  { whenRefused }: Pick<ProviderRequest, 'whenRefused'> = {},
): Promise<string> => {
  const { method, path } = endpointOf(connection, 'startExtractionV2');
  checkRequest(startExtractionRequestSchema, request, path);
  const { data } = await requestAnswer(connection, answerSchema, {
    method,
    path,
    route: path,
    headers: bearer(taskToken),
    body: request,
    explain,
    whenRefused,
  });
  return data.taskId;
};
