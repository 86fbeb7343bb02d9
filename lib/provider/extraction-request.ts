import * as v from 'valibot';
import { productField, textField } from './request-fields.ts';
import type { ProductType } from './vocabulary.ts';

/** "One product per request; several products need separate requests" ("Start extraction"). */
export type ExtractionRequest = { readonly product: ProductType; readonly consentId: string };

export const extractionRequestSchema = v.object({ product: productField, consentId: textField });
