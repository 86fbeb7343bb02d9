/**
 * `responseType` forces a preset answer, in the provider's sandbox only ("Sandbox behaviours", rule 1). Elsewhere
 * it means nothing.
 */
export type Preset = { readonly responseType?: string };
