import { isNationalId } from '../provider/national-id.ts';

/** The header that says whose consents a request is about. API Gateway hands names over in lower case. */
export const targetHeader = 'cosecha-target';

export type ReadTarget =
  | { readonly kind: 'given'; readonly target: string }
  | { readonly kind: 'invalid'; readonly detail: string };

/**
 * The national id of the natural person, or of the company. It travels in a header because addresses end up in
 * access logs. `detail` names the header and never repeats what was in it.
 */
export const readTarget = (header: string | undefined): ReadTarget => {
  if (header === undefined) {
    return {
      kind: 'invalid',
      detail: 'The header Cosecha-Target is required: it says whose consents these are.',
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
