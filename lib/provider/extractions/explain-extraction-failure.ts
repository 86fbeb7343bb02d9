import * as v from 'valibot';
import { ProviderExtractionFailed } from '../transport/errors.ts';
import { parseJson } from '../transport/parse-answer.ts';

const schema = v.object({
  errorType: v.pipe(v.string(), v.minLength(1)),
  errorCode: v.nullish(v.string()),
});

/**
 * "Any other outcome is HTTP 4xx/5xx with a body discriminated by `errorType` (and `errorCode` for
 * subcategories)". A 401 stays the Bearer's ("Authentication", rule 3), and so does a body without `errorType`.
 */
export const explainExtractionFailure = (
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
