import { findDuplicateNames, parseExactJson } from './parse-exact-json.ts';
import { type Violation, violationAt } from './violation.ts';

type ParsedRequestBody =
  | { readonly kind: 'json'; readonly json: unknown }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'not-json' }
  | { readonly kind: 'ambiguous'; readonly violations: readonly Violation[] };

/**
 * Parses the body of an API Gateway event as JSON. `findChangedNumbers` finds the numbers in it that would change.
 * `limit` is in bytes, after base64. JSON that is nested thousands of levels deep is `not-json` (RFC 8259, section 9). A name
 * that occurs twice in an object is `ambiguous`.
 */
export const parseRequestBody = (
  event: { readonly body?: string | undefined; readonly isBase64Encoded?: boolean },
  limit: number,
): ParsedRequestBody => {
  const bytes = Buffer.from(event.body ?? '', event.isBase64Encoded === true ? 'base64' : 'utf8');
  if (bytes.byteLength > limit) return { kind: 'too-large' };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const json = parseExactJson(text);
    const twice = findDuplicateNames(text);
    if (twice.length === 0) return { kind: 'json', json };
    const detail = 'must occur once in its object';
    return { kind: 'ambiguous', violations: twice.map((path) => violationAt(path, detail)) };
  } catch {
    return { kind: 'not-json' };
  }
};
