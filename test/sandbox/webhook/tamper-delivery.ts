import type { DeliveryShape } from '../plan.ts';

export type SignedDelivery = {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly signature?: string;
};

/** Tampers with a correctly signed delivery in one way. */
export const tamperDelivery = (
  body: Uint8Array<ArrayBuffer>,
  signature: string,
  tamper: DeliveryShape['tamper'],
): SignedDelivery => {
  switch (tamper) {
    case undefined:
      return { body, signature };
    case 'missing':
      return { body };
    case 'malformed':
      return { body, signature: signature.replace('sha256=', 'sha256:') };
    case 'truncated':
      return { body, signature: signature.slice(0, -1) };
    case 'non-ascii':
      // One byte, 0xE9: header values travel as Latin-1.
      return { body, signature: `${signature.slice(0, -1)}é` };
    case 'signature':
      return { body, signature: otherLastDigit(signature) };
    case 'body':
      return { body: otherLastByte(body), signature };
  }
};

const otherLastDigit = (signature: string): string =>
  `${signature.slice(0, -1)}${signature.endsWith('0') ? '1' : '0'}`;

const otherLastByte = (body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> => {
  const altered = new Uint8Array(body);
  const last = altered.length - 1;
  altered[last] = (altered[last] ?? 0) ^ 1;
  return altered;
};
