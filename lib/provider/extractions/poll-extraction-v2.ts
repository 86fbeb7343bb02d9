/** Only in the published client (docs/provider-client.md). */

import * as v from 'valibot';
import { inProgressStatus } from '../assumptions.ts';
import { parseExtractionFailure } from '../transport/explain-refusal.ts';
import { bearer, productData } from '../transport/field-schemas.ts';
import { type Connection, endpointOf, exchange, parseAnswer } from '../transport/send-request.ts';
import { type WaitOptions, waitUntil } from '../transport/wait-until.ts';

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
  const endpoint = endpointOf(connection, 'pollExtractionV2');
  const answer = await exchange(connection, {
    ...endpoint,
    ids: { taskId },
    headers: bearer(taskToken),
    explain: parseExtractionFailure,
  });
  if (answer.status === inProgressStatus) return { kind: 'in-progress' };
  return { kind: 'finished', data: parseAnswer(answer.bytes, answerSchema, endpoint.path).data };
};

/** Polls a v2 extraction until it has finished. Throws as `waitUntil` does. */
export const waitForExtractionV2 = (
  connection: Connection,
  taskToken: string,
  taskId: string,
  options: WaitOptions = {},
): Promise<Extract<ExtractionReadingV2, { kind: 'finished' }>> =>
  waitUntil(
    connection,
    async (bounded) => {
      const reading = await pollExtractionV2(bounded, taskToken, taskId);
      return reading.kind === 'finished' ? reading : undefined;
    },
    options,
  );
