import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import fc from 'fast-check';
import { validPayload } from '../generators/delivery-bytes.ts';
import { eventOf, signedPlan, unsignedPlan } from '../generators/delivery-event.ts';
import { rightWrapper } from '../generators/encrypted-delivery.ts';
import { worldSetup } from '../generators/world-setup.ts';
import { fuzzProperty } from '../property.ts';
import { webhookWorld } from './webhook-world.ts';

/** How often `work` creates a decipher with node:crypto. */
const decipherments = async (work: () => Promise<unknown>): Promise<number> => {
  const real = crypto.createDecipheriv;
  let made = 0;
  crypto.createDecipheriv = ((...parts: Parameters<typeof real>) => {
    made += 1;
    return real(...parts);
  }) as typeof real;
  syncBuiltinESMExports();
  try {
    await work();
    return made;
  } finally {
    crypto.createDecipheriv = real;
    syncBuiltinESMExports();
  }
};

export const unverifiedIsNotDecrypted = fuzzProperty({
  name: 'webhook/unverified-is-not-decrypted',
  claim:
    'a body with an invalid signature is never decrypted, and one with a valid signature is decrypted once',
  weight: 8,
  expected: { unsigned: 0.2, signed: 0.3 },
  cases: fc.record({
    setup: worldSetup,
    unsigned: unsignedPlan,
    payload: validPayload,
    wrapper: rightWrapper,
    signed: fc.option(signedPlan(validPayload), { nil: undefined, freq: 3 }),
  }),
  check: async ({ setup, unsigned, payload, wrapper, signed }, see) => {
    const world = webhookWorld(setup);
    const encrypted = { under: signed?.signer ?? 'current', wrapper };
    const plan = { ...(signed ?? unsigned), payload, encrypted };
    const event = eventOf(plan, setup.keys);
    see(signed === undefined ? 'unsigned' : 'signed');
    assert.equal(await decipherments(() => world.deliver(event)), signed === undefined ? 0 : 1);
  },
});
