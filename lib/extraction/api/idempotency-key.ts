export type IdempotencyKey =
  | { readonly kind: 'absent' }
  | { readonly kind: 'given'; readonly key: string }
  | { readonly kind: 'invalid'; readonly detail: string };

/**
 * The `Idempotency-Key` header: 1 to 255 printable ASCII characters, taken as they are. (The IETF draft's
 * quoted form is one such text too, and its quotes are simply part of the key.)
 */
export const parseIdempotencyKey = (header: string | undefined): IdempotencyKey => {
  if (header === undefined) return { kind: 'absent' };
  if (/^[\x20-\x7e]{1,255}$/.test(header)) return { kind: 'given', key: header };
  return { kind: 'invalid', detail: 'The Idempotency-Key must have 1 to 255 printable ASCII characters.' };
};
