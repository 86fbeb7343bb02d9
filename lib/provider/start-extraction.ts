import * as v from 'valibot';
import { givenTaskId } from './answer-fields.ts';
import { bearer } from './bearer.ts';
import { checkRequest } from './check-request.ts';
import { type ExtractionRequest, extractionRequestSchema } from './extraction-request.ts';
import { requestAnswer } from './parse-answer.ts';
import type { Connection } from './send-request.ts';

const route = '/api/v1/products/retrieve-data/tasks';
const answerSchema = v.object({ taskId: givenTaskId });

/**
 * Starts the extraction of one product under one consent and returns its taskId ("Start extraction (v1,
 * asynchronous)"). Not idempotent at the provider: after ProviderAmbiguous or ProviderAnswerTooLarge a task may
 * exist.
 */
export const startExtraction = async (
  connection: Connection,
  taskToken: string,
  request: ExtractionRequest,
): Promise<string> => {
  checkRequest(extractionRequestSchema, request, route);
  const { taskId } = await requestAnswer(connection, answerSchema, {
    method: 'POST',
    path: route,
    route,
    headers: bearer(taskToken),
    body: request,
  });
  return taskId;
};
