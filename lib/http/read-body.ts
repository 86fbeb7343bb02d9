import { parseExactJson } from './exact-json.ts';

export type ReadBody =
  | { readonly kind: 'json'; readonly json: unknown }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'not-json' };

/**
 * Parses the body of an API Gateway event as JSON. `findChangedNumbers` finds the numbers in it that would change.
 * `limit` is in bytes, after base64. JSON that is nested thousands of levels deep is `not-json` (RFC 8259, section 9).
 */
export const readJsonBody = (
  event: { readonly body?: string | undefined; readonly isBase64Encoded?: boolean },
  limit: number,
): ReadBody => {
  const bytes = Buffer.from(event.body ?? '', event.isBase64Encoded === true ? 'base64' : 'utf8');
  if (bytes.byteLength > limit) return { kind: 'too-large' };
  try {
    return { kind: 'json', json: parseExactJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) };
  } catch {
    return { kind: 'not-json' };
  }
};
