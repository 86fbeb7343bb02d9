/** Only in the published client (docs/provider-client.md). */

import * as v from 'valibot';
import { inProgressStatus } from '../assumptions.ts';
import { productData } from '../transport/answer-field-schemas.ts';
import { checkRequest } from '../transport/check-request.ts';
import { endpointOf, fillPath } from '../transport/endpoint-path.ts';
import { parseExtractionFailure } from '../transport/explain-refusal.ts';
import { bearer, taskIdInPath } from '../transport/request-field-schemas.ts';
import { type Connection, exchange, parseAnswer } from '../transport/send-request.ts';

export type ExtractionReadingV2 =
  /** The document does not show the body of a 202, so it is not read. */
  { readonly kind: 'in-progress' } | { readonly kind: 'finished'; readonly data: readonly unknown[] };

const answerSchema = v.object({ data: productData });

/**
 * "v2 consent-based extraction": 202 in progress, 200 with `data` when finished. Every other outcome throws
 * ProviderExtractionFailed if the answer has an `errorType`. `Connection.endpoints` can replace the endpoint.
 */
export const pollExtractionV2 = async (
  connection: Connection,
  taskToken: string,
  taskId: string,
): Promise<ExtractionReadingV2> => {
  const { method, path } = endpointOf(connection, 'pollExtractionV2');
  checkRequest(taskIdInPath, { taskId }, path);
  const answer = await exchange(connection, {
    method,
    path: fillPath(path, { taskId }),
    route: path,
    headers: bearer(taskToken),
    explain: parseExtractionFailure,
  });
  if (answer.status === inProgressStatus) return { kind: 'in-progress' };
  return { kind: 'finished', data: parseAnswer(answer.bytes, answerSchema, path).data };
};
