import type { SealedRequestData } from '../../../lib/extraction/sealed-request-data.ts';
import type { StoredRequest } from '../../../lib/extraction/store.ts';
import { unsealed } from '../models/sealing.ts';
import type { Process } from '../world/process.ts';
import type { World } from '../world/world.ts';

/** KMS Decrypt. Throws for a ciphertext that was never sealed, or not for this item. */
export const unsealFor =
  (world: World, process: Process) =>
  <Plaintext extends SealedRequestData>(item: StoredRequest): Promise<Plaintext> =>
    world.kernel.call(process, {
      name: 'unseal',
      kind: 'read',
      take: () => unsealed<Plaintext>(item),
    });
