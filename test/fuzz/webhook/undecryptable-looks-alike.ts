import assert from 'node:assert/strict';
import fc from 'fast-check';
import { deliveryBytes } from '../generators/delivery-bytes.ts';
import { eventOf, keyOf, signedPlan, signer } from '../generators/delivery-event.ts';
import { wrapper } from '../generators/encrypted-delivery.ts';
import { worldSetup } from '../generators/world-setup.ts';
import { fuzzProperty } from '../property.ts';
import { expectedOf } from './oracle.ts';
import { webhookAnswers } from './webhook-answers.ts';
import { webhookWorld } from './webhook-world.ts';

/**
 * Only who holds the signing key can send a ciphertext that is decrypted at all, so there is no oracle for
 * outsiders (`unverified-is-not-decrypted`). This is the second line: to that sender too, whatever failed looks the
 * same. Inside it does not: the log's `reason` distinguishes a text that did not decrypt from one that decrypted to no JSON
 * or to no task. How long the answer took is not compared.
 */
export const undecryptableLooksAlike = fuzzProperty({
  name: 'webhook/undecryptable-looks-alike',
  claim:
    'a signed body that cannot be decrypted, decrypts to garbage, or is not JSON has the same answer and count',
  weight: 12,
  expected: { 'not-decryptable': 0.3, 'not-json': 0.03, 'no-task': 0.03, accepted: 0.02 },
  cases: fc.record({
    setup: worldSetup,
    plan: signedPlan(deliveryBytes.filter((bytes) => bytes.length < 8_000)),
    under: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: signer }),
    wrapper: wrapper(),
  }),
  check: async ({ setup, plan, under, wrapper }, see) => {
    const encrypted = { under: under ?? plan.signer, wrapper };
    const event = eventOf({ ...plan, encrypted }, setup.keys);
    const world = webhookWorld(setup);
    const before = world.state();
    const answer = await world.deliver(event);
    if (expectedOf(event, setup.keys).status === 204) {
      see('accepted');
      assert.deepEqual(answer, webhookAnswers[204]);
      return;
    }
    see(world.logged[0]?.reason ?? String(answer.statusCode));
    see(wrapper.damage);
    if (keyOf(encrypted.under, setup.keys) !== keyOf(plan.signer, setup.keys)) see('another key');
    assert.deepEqual(answer, webhookAnswers[400]);
    assert.deepEqual(world.counted, ['WebhookUnreadable']);
    assert.deepEqual(world.state(), before);
  },
});
