import * as v from 'valibot';
import { inProgressStatus, statusesOfPoll } from '../assumptions.ts';
import { ProviderAnswerTooLarge, ProviderExtractionFailed } from '../transport/errors.ts';
import { parseExtractionFailure } from '../transport/explain-refusal.ts';
import { bearer } from '../transport/field-schemas.ts';
import {
  type Connection,
  type Endpoint,
  endpointOf,
  exchange,
  type ParseBytes,
  type ProviderRequest,
  parseAnswer,
  statusError,
} from '../transport/send-request.ts';

/**
 * The result of a poll, in either variant. The data is not validated, because the status is useful without it.
 * `pollExtraction` and `pollExtractionV2` validate it.
 */
export type ExtractionAnswer =
  | { readonly kind: 'in-progress' }
  /** HTTP 200 with any JSON. Only v1 has a `taskStatus`. `bytes` is the body as received. */
  | {
      readonly kind: 'answered';
      readonly taskStatus?: string | undefined;
      /** Only v1 has one. */
      readonly taskStatusCode?: number | undefined;
      readonly data: unknown;
      readonly bytes: Uint8Array;
    }
  /** HTTP 200 with a body above `maxAnswerBytes`. */
  | { readonly kind: 'too-large' }
  /** A 4xx whose body is "discriminated by `errorType`". Both fields are as returned. */
  | { readonly kind: 'failed'; readonly errorType: string; readonly errorCode?: string };

/** Accepts any JSON: "keep polling until HTTP 200". */
const bodySchema = v.fallback(
  v.object({
    taskStatus: v.fallback(v.optional(v.string()), undefined),
    taskStatusCode: v.fallback(v.optional(v.number()), undefined),
    results: v.optional(v.unknown()),
    data: v.optional(v.unknown()),
  }),
  {},
);

const v1Endpoint: Endpoint = { method: 'GET', path: '/api/v1/products/retrieve-data/tasks/{taskId}' };

/** In an answer about the poll, the error only gives a name, because the status decides. */
const explain: NonNullable<ProviderRequest['explain']> = (status, body, call) => {
  const failure = parseExtractionFailure(status, body, call);
  const isOfPoll = status >= 500 || statusesOfPoll.includes(status);
  if (failure === undefined || !isOfPoll) return failure;
  const { errorType, errorCode } = failure;
  return Object.assign(statusError(status, call), { named: { errorType, errorCode } });
};

/**
 * Polls an extraction by consent in the variant that started it. Error bodies of v1 are "not shown", so an `errorType`
 * is assumed to mean the same as in v2. Throws the other ProviderErrors.
 */
export const readExtraction = async (
  connection: Connection,
  taskToken: string,
  {
    variant,
    taskId,
    parse,
  }: { readonly variant: 'v1' | 'v2'; readonly taskId: string; readonly parse?: ParseBytes },
): Promise<ExtractionAnswer> => {
  const endpoint = variant === 'v1' ? v1Endpoint : endpointOf(connection, 'pollExtractionV2');
  try {
    const { status, bytes } = await exchange(connection, {
      ...endpoint,
      ids: { taskId },
      headers: bearer(taskToken),
      explain,
    });
    if (status === inProgressStatus) return { kind: 'in-progress' };
    const { taskStatus, taskStatusCode, results, data } = parseAnswer(
      bytes,
      bodySchema,
      endpoint.path,
      parse,
    );
    if (variant === 'v2') return { kind: 'answered', data, bytes };
    return { kind: 'answered', taskStatus, taskStatusCode, data: results, bytes };
  } catch (error) {
    if (error instanceof ProviderAnswerTooLarge) {
      // The body of a 202 is not needed, so its size does not matter.
      return { kind: error.status === inProgressStatus ? 'in-progress' : 'too-large' };
    }
    if (!(error instanceof ProviderExtractionFailed)) throw error;
    const { errorType, errorCode } = error;
    return { kind: 'failed', errorType, ...(errorCode === undefined ? {} : { errorCode }) };
  }
};
