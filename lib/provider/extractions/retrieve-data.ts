/** Only in the published client (docs/provider-client.md). */

import * as v from 'valibot';
import { bearer, checkRequest, productData } from '../transport/field-schemas.ts';
import { type Connection, requestAnswer } from '../transport/send-request.ts';
import type { ExtractionStatusV1, Open } from '../vocabulary.ts';
import { type StartExtractionRequest, startExtractionRequestSchema } from './start-extraction.ts';

const path = '/api/v1/products/retrieve-data';

/** The product data is in `data`. The asynchronous flow has it in `results`. */
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
 * "Retrieve data, synchronous". Returns when the extraction has finished.
 * @deprecated "in favour of the asynchronous flow" ("Versioning", rule 4): `startExtraction` and `pollExtraction`.
 */
export const retrieveData = async (
  connection: Connection,
  taskToken: string,
  request: StartExtractionRequest,
): Promise<RetrievedData> => {
  checkRequest(startExtractionRequestSchema, request, path);
  return requestAnswer(connection, answerSchema, {
    method: 'POST',
    path,
    headers: bearer(taskToken),
    body: request,
  });
};
