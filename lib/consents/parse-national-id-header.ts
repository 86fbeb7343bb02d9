import { isNationalId } from '../provider/national-id.ts';

/** The header with the national id of the person or company whose consents are read or changed. API Gateway passes names in lower case. */
export const targetHeader = 'cosecha-target';

type ParsedTarget =
  | { readonly kind: 'given'; readonly target: string }
  | { readonly kind: 'invalid'; readonly detail: string };

/**
 * Reads the national id of the natural person or the company. It is a header because URLs end up in access logs.
 * `detail` never repeats the value.
 */
export const parseNationalIdHeader = (header: string | undefined): ParsedTarget => {
  if (header === undefined) {
    return {
      kind: 'invalid',
      detail:
        'The header Cosecha-Target is required. It names the person or company whose consents these are.',
    };
  }
  if (!isNationalId(header)) {
    return {
      kind: 'invalid',
      detail: 'The header Cosecha-Target must be a national id with its check digit.',
    };
  }
  return { kind: 'given', target: header };
};
