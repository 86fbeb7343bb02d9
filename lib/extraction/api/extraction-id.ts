import { createHash } from 'node:crypto';
import { stringify as formatUuid } from 'uuid';

/**
 * The extractionId of a caller's idempotency key: the first 16 bytes of SHA-256 over both, in the shape of a
 * UUIDv8 (RFC 9562, section 5.8). 122 bits of a hash: two keys meet by accident once in 2^61 extractions.
 * The pair is hashed as a JSON list, so that no caller can spell out another one's pair.
 */
export const extractionIdOf = (caller: string, idempotencyKey: string): string => {
  const bytes = createHash('sha256')
    .update(JSON.stringify([caller, idempotencyKey]))
    .digest()
    .subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return formatUuid(bytes);
};
