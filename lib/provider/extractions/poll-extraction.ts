/** Only in the published client (docs/provider-client.md). */

import * as v from 'valibot';
import { finishedStatus, firstErrorCode, inProgressStatus, inProgressStatuses } from '../assumptions.ts';
import { ProviderExtractionFailed } from '../transport/errors.ts';
import { parseExtractionFailure } from '../transport/explain-refusal.ts';
import { bearer, productData } from '../transport/field-schemas.ts';
import { type Connection, endpointOf, exchange, parseAnswer } from '../transport/send-request.ts';
import { type WaitOptions, waitUntil } from '../transport/wait-until.ts';
import type { ExtractionStatusV1, Open } from '../vocabulary.ts';

const path = '/api/v1/products/retrieve-data/tasks/{taskId}';

type Status = {
  readonly taskStatus: Open<ExtractionStatusV1>;
  readonly taskStatusCode: number;
};

/** The HTTP status decides the kind: "keep polling until HTTP 200". */
export type ExtractionReading =
  | ({ readonly kind: 'in-progress' } & Status)
  /** The items of `results` depend on the product. `product-item-guards.ts` has the two that are shown. */
  | ({ readonly kind: 'finished'; readonly results: readonly unknown[] } & Status);

const status = { taskStatus: v.string(), taskStatusCode: v.pipe(v.number(), v.integer()) };
const inProgressSchema = v.object(status);
const finishedSchema = v.object({ ...status, results: productData });
const anySchema = v.fallback(v.object(status), { taskStatus: finishedStatus, taskStatusCode: 200 });

/** "Poll extraction (v1)". A 200 with the code of an error throws ProviderExtractionFailed, with that status and code as its `errorType` and `errorCode`. */
export const pollExtraction = async (
  connection: Connection,
  taskToken: string,
  taskId: string,
): Promise<ExtractionReading> => {
  const answer = await exchange(connection, {
    method: 'GET',
    path,
    ids: { taskId },
    headers: bearer(taskToken),
  });
  if (answer.status === inProgressStatus) {
    return { kind: 'in-progress', ...parseAnswer(answer.bytes, inProgressSchema, path) };
  }
  const { taskStatus: errorType, taskStatusCode } = parseAnswer(answer.bytes, anySchema, path);
  if (taskStatusCode >= firstErrorCode && ![...inProgressStatuses, finishedStatus].includes(errorType)) {
    const message = 'The extraction ended with an error of the provider.';
    const { status: httpStatus } = answer;
    throw new ProviderExtractionFailed(message, {
      status: httpStatus,
      errorType,
      errorCode: `${taskStatusCode}`,
    });
  }
  return { kind: 'finished', ...parseAnswer(answer.bytes, finishedSchema, path) };
};

/** Polls a v1 extraction until it has finished. Throws as `waitUntil` does. */
export const waitForExtraction = (
  connection: Connection,
  taskToken: string,
  taskId: string,
  options: WaitOptions = {},
): Promise<Extract<ExtractionReading, { kind: 'finished' }>> =>
  waitUntil(
    connection,
    async (bounded) => {
      const reading = await pollExtraction(bounded, taskToken, taskId);
      return reading.kind === 'finished' ? reading : undefined;
    },
    options,
  );

export type ExtractionReadingV2 =
  /** The document does not show the body of a 202, so it is not read. */
  { readonly kind: 'in-progress' } | { readonly kind: 'finished'; readonly data: readonly unknown[] };

const finishedSchemaV2 = v.object({ data: productData });

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
  return { kind: 'finished', data: parseAnswer(answer.bytes, finishedSchemaV2, endpoint.path).data };
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
