import type { SandboxContext } from './hono-types.ts';

/**
 * The error body of the consent flow: "discriminated by `errorType` (and `errorCode` for subcategories)". The document
 * shows neither their values nor the error bodies of v1, so the values are invented and v1 has the same bodies.
 */
export const refusal = (
  c: SandboxContext,
  status: 400 | 401 | 403 | 404 | 409,
  errorType: string,
  message: string,
  more: { readonly errorCode?: string; readonly invalid?: readonly string[] } = {},
): Response => c.json({ errorType, ...more, message }, status);

/** Refuses an undocumented `responseType`. */
export const unknownPreset = (c: SandboxContext) =>
  c.json({ message: 'Invalid request', invalid: ['responseType'] }, 400);
