import type { SandboxContext } from '../transport/wire.ts';

/** A `responseType` that the document does not name is a mistake of the client's. */
export const unknownPreset = (c: SandboxContext) =>
  c.json({ message: 'Invalid request', invalid: ['responseType'] }, 400);
