import type { SandboxContext } from '../transport/wire.ts';

/** Refuses an undocumented `responseType`. */
export const unknownPreset = (c: SandboxContext) =>
  c.json({ message: 'Invalid request', invalid: ['responseType'] }, 400);
