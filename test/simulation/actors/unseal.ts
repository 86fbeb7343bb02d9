import type { SealedRequestData } from '../../../lib/extraction/sealed-request-data.ts';
import type { Process } from '../world/process.ts';
import type { World } from '../world/world.ts';

/** KMS Decrypt. Throws for a ciphertext that was never sealed. */
export const unsealFor =
  (world: World, process: Process) =>
  <Plaintext extends SealedRequestData>(ciphertext: string): Promise<Plaintext> =>
    world.kernel.call(process, process.name, {
      name: 'unseal',
      kind: 'read',
      take: () => {
        const sealed = world.sealed.get(ciphertext);
        if (sealed === undefined) throw new Error('no such ciphertext');
        return sealed.plaintext as Plaintext;
      },
    });
