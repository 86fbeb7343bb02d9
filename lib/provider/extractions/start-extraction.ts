import * as v from 'valibot';
import { answerTaskId } from '../transport/answer-fields.ts';
import { bearer } from '../transport/bearer.ts';
import { checkRequest } from '../transport/check-request.ts';
import { requestAnswer } from '../transport/parse-answer.ts';
import type { Connection } from '../transport/send-request.ts';
import { type StartExtractionRequest, startExtractionRequestSchema } from './start-extraction-request.ts';

const route = '/api/v1/products/retrieve-data/tasks';
const answerSchema = v.object({ taskId: answerTaskId });

/**
 * Starts the extraction of one product under one consent and returns its taskId ("Start extraction (v1,
 * asynchronous)"). The call is not idempotent. After ProviderAmbiguous or ProviderAnswerTooLarge a task may exist.
 */
export const startExtraction = async (
  connection: Connection,
  taskToken: string,
  request: StartExtractionRequest,
): Promise<string> => {
  checkRequest(startExtractionRequestSchema, request, route);
  const { taskId } = await requestAnswer(connection, answerSchema, {
    method: 'POST',
    path: route,
    route,
    headers: bearer(taskToken),
    body: request,
  });
  return taskId;
};
