import type { Extraction } from '#lib/extraction/record.ts';
import { purposeDigest } from '#lib/extraction/request-data.ts';
import type { SealedRequestData } from '#lib/extraction/sealed-request-data.ts';

const bindingOf = (record: Extraction): string =>
  `sealed-${record.extractionId}/${record.requestId}/${purposeDigest(record)}`;

/** KMS binds a ciphertext to its item, and to what it is for. */
export const seal = (record: Extraction, plaintext: SealedRequestData): string =>
  `${bindingOf(record)}|${JSON.stringify(plaintext)}`;

/** Throws for a ciphertext of another item or purpose. */
export const unsealed = <Plaintext extends SealedRequestData>(
  record: Extraction,
  item: { readonly sealed: string },
): Plaintext => {
  const [sealedFor, plaintext = ''] = item.sealed.split('|');
  if (sealedFor !== bindingOf(record)) throw new Error('InvalidCiphertextException');
  return JSON.parse(plaintext);
};
