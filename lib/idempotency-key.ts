/** Whether a text can be an `Idempotency-Key`: 1 to 255 printable ASCII characters (docs/api.md). */
export const isIdempotencyKey = (text: string): boolean => /^[\x20-\x7e]{1,255}$/.test(text);
