import type { ExecutionInput } from '../../../lib/extraction/api/request-extraction.ts';
import type { SealedRequestData } from '../../../lib/extraction/sealed-request-data.ts';

const idOf = ({ extractionId, requestId }: ExecutionInput): string => `sealed-${extractionId}/${requestId}`;

/** KMS binds a ciphertext to its item. */
export const seal = (ids: ExecutionInput, plaintext: SealedRequestData): string =>
  `${idOf(ids)}|${JSON.stringify(plaintext)}`;

/** Throws for a ciphertext of another item. */
export const unsealed = <Plaintext extends SealedRequestData>(
  item: ExecutionInput & { readonly sealed: string },
): Plaintext => {
  const [sealedFor, plaintext = ''] = item.sealed.split('|');
  if (sealedFor !== idOf(item)) throw new Error('InvalidCiphertextException');
  return JSON.parse(plaintext);
};
