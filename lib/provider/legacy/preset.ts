/** `responseType` selects a preset answer. Only the provider's sandbox supports it ("Sandbox behaviours", rule 1). */
export type Preset = { readonly responseType?: string };
