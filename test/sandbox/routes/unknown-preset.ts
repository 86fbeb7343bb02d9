import type { SandboxContext } from '../transport/wire.ts';

/** A `responseType` that the document does not name is a mistake of the client's. */
export function unknownPreset(c: SandboxContext) {
  return c.json({ message: 'Invalid request', invalid: ['responseType'] }, 400);
}
