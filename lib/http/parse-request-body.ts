import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { findDuplicateNames, parseExactJson } from './parse-exact-json.ts';
import { problem } from './problem.ts';
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

/** The answer to a body that is not one JSON text. */
export const refuseBody = (
  body: Exclude<ParsedRequestBody, { readonly kind: 'json' }>,
  limit: number,
): APIGatewayProxyStructuredResultV2 => {
  if (body.kind === 'too-large') {
    return problem('too-large', { detail: `The body must have at most ${limit} bytes.` });
  }
  if (body.kind === 'ambiguous') return problem('invalid-request', { errors: body.violations });
  return problem('invalid-request', {
    detail: 'The body must be JSON in UTF-8, and not thousands of levels deep.',
  });
};
