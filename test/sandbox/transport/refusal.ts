import type { SandboxContext } from './wire.ts';

/**
 * The error body of the consent flow: "discriminated by `errorType` (and `errorCode` for subcategories)". Their
 * values are "not shown", so these are ours; v1, whose error bodies are not shown either, gets the same.
 */
export const refusal = (
  c: SandboxContext,
  status: 400 | 401 | 403 | 404 | 409,
  errorType: string,
  message: string,
  more: { readonly errorCode?: string; readonly invalid?: readonly string[] } = {},
): Response => c.json({ errorType, ...more, message }, status);
