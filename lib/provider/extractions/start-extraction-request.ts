import * as v from 'valibot';
import { productField, textField } from '../transport/request-fields.ts';
import type { ProductType } from '../vocabulary.ts';

/** "One product per request; several products need separate requests" ("Start extraction"). */
export type StartExtractionRequest = { readonly product: ProductType; readonly consentId: string };

/** @internal Left out of the published types, which then need no valibot. */
export const startExtractionRequestSchema = v.object({ product: productField, consentId: textField });
