import * as v from 'valibot';
import { inProgressStatus, statusesOfPoll } from '../assumptions.ts';
import { bearer } from '../transport/bearer.ts';
import { checkRequest } from '../transport/check-request.ts';
import { endpointOf, fillPath } from '../transport/endpoint.ts';
import { ProviderAnswerTooLarge, ProviderExtractionFailed } from '../transport/errors.ts';
import { parseAnswer } from '../transport/parse-answer.ts';
import { taskIdInPath } from '../transport/request-fields.ts';
import { type Connection, type Endpoint, exchange, type ProviderRequest } from '../transport/send-request.ts';
import { explainExtractionFailure } from './explain-extraction-failure.ts';

/**
 * What a poll told, in either variant, and nothing asked of the data: the status is good without them.
 * `pollExtraction` and `pollExtractionV2` are the same with their form.
 */
export type ExtractionAnswer =
  | { readonly kind: 'in-progress' }
  /** HTTP 200, with JSON of whatever form. Only v1 has a `taskStatus`. `bytes` are the body as received. */
  | {
      readonly kind: 'answered';
      readonly taskStatus?: string;
      readonly data: unknown;
      readonly bytes: Uint8Array;
    }
  /** HTTP 200, with a body over the cap. */
  | { readonly kind: 'too-large' }
  /** Ended otherwise, by a 4xx whose body is "discriminated by `errorType`". Both as given. */
  | { readonly kind: 'failed'; readonly errorType: string; readonly errorCode?: string };

/** "Keep polling until HTTP 200": it has ended then, whatever the form of the body. */
const bodySchema = v.fallback(
  v.object({
    taskStatus: v.fallback(v.optional(v.string()), undefined),
    results: v.optional(v.unknown()),
    data: v.optional(v.unknown()),
  }),
  {},
);

const v1Endpoint: Endpoint = { method: 'GET', path: '/api/v1/products/retrieve-data/tasks/{taskId}' };

const explain: NonNullable<ProviderRequest['explain']> = (status, body, call) =>
  status >= 500 || statusesOfPoll.includes(status) ? undefined : explainExtractionFailure(status, body, call);

/**
 * Polls an extraction by consent in the variant that it was started in. Error bodies of v1 are "not shown": one
 * with an `errorType` is taken to mean what it means in v2. Throws the other ProviderErrors.
 */
export const readExtraction = async (
  connection: Connection,
  taskToken: string,
  { variant, taskId }: { readonly variant: 'v1' | 'v2'; readonly taskId: string },
): Promise<ExtractionAnswer> => {
  const { method, path } = variant === 'v1' ? v1Endpoint : endpointOf(connection, 'pollExtractionV2');
  checkRequest(taskIdInPath, { taskId }, path);
  try {
    const { status, bytes } = await exchange(connection, {
      method,
      path: fillPath(path, { taskId }),
      route: path,
      headers: bearer(taskToken),
      explain,
    });
    if (status === inProgressStatus) return { kind: 'in-progress' };
    const { taskStatus, results, data } = parseAnswer(bytes, bodySchema, path);
    if (variant === 'v2') return { kind: 'answered', data, bytes };
    return { kind: 'answered', ...(taskStatus === undefined ? {} : { taskStatus }), data: results, bytes };
  } catch (error) {
    if (error instanceof ProviderAnswerTooLarge) {
      // The body of a 202 is of no interest, so its size is not either.
      return { kind: error.status === inProgressStatus ? 'in-progress' : 'too-large' };
    }
    if (!(error instanceof ProviderExtractionFailed)) throw error;
    const { errorType, errorCode } = error;
    return { kind: 'failed', errorType, ...(errorCode === undefined ? {} : { errorCode }) };
  }
};
