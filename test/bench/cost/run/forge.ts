import { randomBytes, randomUUID } from 'node:crypto';
import { toEmulatorUrl } from '../../../../tools/cli/aws/local-deployment.ts';
import type { Entry } from '../../ledger/entry.ts';
import type { LedgeredSystem } from './extract.ts';

const deliveries = 20;

/** Sends deliveries with a signature of the right form that no key of ours made. Returns those that asked AWS nothing. */
export const forge = async ({ system, ledger, signal }: LedgeredSystem): Promise<readonly Entry[]> => {
  const url = toEmulatorUrl(system.api.base, system.outputs.WebhookUrl ?? '');
  const before = ledger.entries().length;
  for (let left = deliveries; left > 0; left -= 1) {
    const { status } = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-service-signature': `sha256=${randomBytes(32).toString('hex')}`,
      },
      body: JSON.stringify({ taskId: randomUUID(), taskStatus: 'COMPLETED' }),
      signal,
    });
    if (status !== 401) throw new Error(`A forged delivery was answered ${status}, not 401.`);
  }
  // The others looked for a new key, which happens every 15 s at most.
  const forged = ledger.entries().slice(before);
  return forged.filter(({ ordinal, calls }) => ordinal > 1 && calls.length === 0);
};
