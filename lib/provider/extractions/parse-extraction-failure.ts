import * as v from 'valibot';
import { ProviderExtractionFailed } from '../transport/errors.ts';
import { parseJson } from '../transport/parse-answer.ts';

const schema = v.object({
  errorType: v.pipe(v.string(), v.minLength(1)),
  errorCode: v.nullish(v.string()),
});

/**
 * Returns the failure in the body of a v2 answer. "Any other outcome is HTTP 4xx/5xx with a body discriminated by
 * `errorType` (and `errorCode` for subcategories)". Returns undefined for a 401, which is about the Bearer token
 * ("Authentication", rule 3), and for a body without `errorType`.
 */
export const parseExtractionFailure = (
  status: number,
  body: Uint8Array,
  call: string,
): ProviderExtractionFailed | undefined => {
  if (status < 400 || status === 401) return undefined;
  const { success, output } = v.safeParse(schema, parseJson(body));
  if (!success) return undefined;
  const { errorType, errorCode } = output;
  return new ProviderExtractionFailed(
    `The provider answered ${status} to ${call}, with an error of its own.`,
    {
      status,
      errorType,
      ...(errorCode == null ? {} : { errorCode }),
    },
  );
};
