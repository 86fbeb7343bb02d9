import * as v from 'valibot';
import { productData } from './answer-fields.ts';
import { bearer } from './bearer.ts';
import { checkRequest } from './check-request.ts';
import { type ExtractionRequest, extractionRequestSchema } from './extraction-request.ts';
import { requestAnswer } from './parse-answer.ts';
import type { Connection } from './send-request.ts';
import type { ExtractionStatusV1, Open } from './vocabulary.ts';

const route = '/api/v1/products/retrieve-data';

/** Its product data is in `data`, where the asynchronous flow has `results`. */
export type RetrievedData = {
  readonly taskStatus: Open<ExtractionStatusV1>;
  readonly taskStatusCode: number;
  readonly data: readonly unknown[];
};

const answerSchema: v.GenericSchema<unknown, RetrievedData> = v.object({
  taskStatus: v.string(),
  taskStatusCode: v.pipe(v.number(), v.integer()),
  data: productData,
});

/**
 * "Retrieve data, synchronous": answers when the extraction has finished.
 * @deprecated "in favour of the asynchronous flow" ("Versioning", rule 4): `startExtraction` and `pollExtraction`.
 */
export const retrieveData = async (
  connection: Connection,
  taskToken: string,
  request: ExtractionRequest,
): Promise<RetrievedData> => {
  checkRequest(extractionRequestSchema, request, route);
  return requestAnswer(connection, answerSchema, {
    method: 'POST',
    path: route,
    route,
    headers: bearer(taskToken),
    body: request,
  });
};
