import * as v from 'valibot';
import { statusesWithTexts } from '../assumptions.ts';
import { explainLegacyRefusal, parseExtractionFailure } from '../transport/explain-refusal.ts';
import {
  answerTaskId,
  bearer,
  checkRequest,
  consentIdField,
  productField,
} from '../transport/field-schemas.ts';
import {
  type Connection,
  endpointOf,
  type ProviderRequest,
  requestAnswer,
} from '../transport/send-request.ts';
import type { ProductType } from '../vocabulary.ts';

const path = '/api/v1/products/retrieve-data/tasks';
const answerSchema = v.object({ taskId: answerTaskId });

/**
 * Starts the extraction of one product under one consent and returns its taskId ("Start extraction (v1,
 * asynchronous)"). The call is not idempotent. After ProviderAmbiguous or ProviderAnswerTooLarge a task may exist.
 * `whenRefused`: see `startTask`.
 */
export const startExtraction = async (
  connection: Connection,
  taskToken: string,
  request: StartExtractionRequest,
  { whenRefused }: Pick<ProviderRequest, 'whenRefused'> = {},
): Promise<string> => {
  checkRequest(startExtractionRequestSchema, request, path);
  const { taskId } = await requestAnswer(connection, answerSchema, {
    method: 'POST',
    path,
    headers: bearer(taskToken),
    body: request,
    explain: explainLegacyRefusal,
    explainOnly: statusesWithTexts.consent,
    whenRefused,
  });
  return taskId;
};

/** "One product per request; several products need separate requests" ("Start extraction"). */
export type StartExtractionRequest = { readonly product: ProductType; readonly consentId: string };

/** @internal Left out of the published types, which then need no valibot. */
export const startExtractionRequestSchema = v.object({ product: productField, consentId: consentIdField });

const explain: NonNullable<ProviderRequest['explain']> = (status, body, call) => {
  const hasTexts = (statusesWithTexts.consent as readonly number[]).includes(status);
  const refusal = hasTexts ? explainLegacyRefusal(status, body, call) : undefined;
  return refusal?.refusal === undefined ? parseExtractionFailure(status, body, call) : refusal;
};

const answerSchemaV2 = v.object({ data: v.object({ taskId: answerTaskId }) });

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
  const endpoint = endpointOf(connection, 'startExtractionV2');
  checkRequest(startExtractionRequestSchema, request, endpoint.path);
  const { data } = await requestAnswer(connection, answerSchemaV2, {
    ...endpoint,
    headers: bearer(taskToken),
    body: request,
    explain,
    whenRefused,
  });
  return data.taskId;
};
