import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { DeliveryEvent } from '#lib/webhook/receive-delivery.ts';
import { signatureHeader } from '../../support/data/signature-header.ts';
import { flipped } from '../generators/damaged-bytes.ts';
import { deliveryBytes } from '../generators/delivery-bytes.ts';
import { eventOf, keyOf, sentBytes, signedPlan } from '../generators/delivery-event.ts';
import { worldSetup } from '../generators/world-setup.ts';
import { fuzzProperty } from '../property.ts';
import { assertAnswer } from './webhook-answers.ts';
import { webhookWorld } from './webhook-world.ts';

const asEvent = (body: Buffer, signature: string): DeliveryEvent => ({
  body: body.toString('base64'),
  isBase64Encoded: true,
  headers: { 'x-service-signature': signature },
});

/** Keys are texts; a flipped bit of a text's UTF-8 may be no UTF-8, so its lowest code units are flipped instead. */
const flippedKey = (key: string, bit: number): string => {
  const at = bit % key.length;
  const unit = key.charCodeAt(at) ^ (1 << (bit % 4));
  return `${key.slice(0, at)}${String.fromCharCode(unit)}${key.slice(at + 1)}`;
};

export const bitFlips = fuzzProperty({
  name: 'webhook/bit-flips',
  claim: 'a signed delivery with one flipped bit in body, signature or key is refused and changes nothing',
  weight: 15,
  expected: { body: 0.2, signature: 0.2, key: 0.2 },
  cases: fc.record({
    setup: worldSetup,
    plan: signedPlan(deliveryBytes.filter((bytes) => bytes.length > 0 && bytes.length <= 11_000)),
    of: fc.constantFrom('body', 'signature', 'key'),
    bit: fc.nat(1 << 20),
  }),
  check: async ({ setup, plan, of, bit }, see) => {
    const body = sentBytes(plan, setup.keys);
    const key = keyOf(plan.signer, setup.keys);
    const right = signatureHeader(body, key);
    const altered = {
      body: () => asEvent(flipped(body, bit), right),
      signature: () =>
        asEvent(body, `sha256=${flipped(Buffer.from(right.slice(7), 'hex'), bit).toString('hex')}`),
      key: () => asEvent(body, signatureHeader(body, flippedKey(key, bit))),
    }[of]();
    // A flipped key may, in a short one, be the other active key.
    if (of === 'key' && setup.keys.includes(flippedKey(key, bit))) return;

    const untouched = webhookWorld(setup);
    const accepted = await untouched.deliver(eventOf(plan, setup.keys));
    assert.notEqual(accepted.statusCode, 401, 'the unchanged delivery is refused');

    const world = webhookWorld(setup);
    const before = world.state();
    see(of);
    assertAnswer(await world.deliver(altered), 401);
    assert.deepEqual(world.state(), before);
    assert.deepEqual(world.counted, ['WebhookSignatureMismatch']);
  },
});
