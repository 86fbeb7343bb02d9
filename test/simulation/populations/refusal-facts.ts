import type { ExtractionStatus } from '../../../lib/extraction/record.ts';
import type { RefusalMark } from '../../../lib/extraction/store.ts';

/** What happened to an extraction that matters for refused credentials. */
export type RefusalEvent = { readonly of: string } & (
  | { readonly kind: 'status'; readonly status: ExtractionStatus; readonly reason: string | undefined }
  /** Its task was linked for the first time. */
  | { readonly kind: 'linked'; readonly isAdopted: boolean }
  /** start-task read the mark. */
  | { readonly kind: 'checked' }
  | { readonly kind: 'marked'; readonly mark: RefusalMark }
  /** An operator has forgotten all refusals. */
  | { readonly kind: 'forgotten' }
);

/** `by`: the process that did it. */
export type RefusalFact = RefusalEvent & { readonly at: number; readonly by: string };
