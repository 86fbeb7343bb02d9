import assert from 'node:assert/strict';
import fc from 'fast-check';
import { deliveryBytes, knownPayload, validPayload } from '../generators/delivery-bytes.ts';
import {
  type DeliveryPlan,
  deliveryPlan,
  eventOf,
  signedPlan,
  signer,
  unsignedPlan,
} from '../generators/delivery-event.ts';
import { wrapper } from '../generators/encrypted-delivery.ts';
import { worldSetup } from '../generators/world-setup.ts';
import { fuzzProperty } from '../property.ts';
import { expectedOf } from './expected-answer.ts';
import { expectedState } from './expected-state.ts';
import { assertAnswer } from './webhook-answers.ts';
import { type State, type WorldSetup, webhookWorld } from './webhook-world.ts';

/**
 * Only who holds the signing key can send a ciphertext that is decrypted at all, so there is no oracle for outsiders
 * (`unverified-is-not-decrypted`). This is the second line: to that sender too, whatever failed looks the same. Inside it does
 * not: the log's `reason` distinguishes a text that did not decrypt from one that decrypted to no JSON or to no task. How long
 * the answer took is not compared.
 */
const signedAndDamaged: fc.Arbitrary<DeliveryPlan> = fc
  .record({
    plan: signedPlan(deliveryBytes.filter((bytes) => bytes.length < 8_000)),
    under: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: signer }),
    wrapper,
  })
  .map(({ plan, under = plan.signer, wrapper }) => ({ ...plan, encrypted: { under, wrapper } }));

/** What the delivery did to the record of its task. */
const effectOf = (setup: WorldSetup, { extractions }: State, taskId: string): string => {
  const linked = setup.tasks.find((task) => task.taskId === taskId)?.extractionId;
  const before = setup.extractions.find(({ extractionId }) => extractionId === linked)?.status;
  if (linked === undefined) return 'stored';
  if (before === undefined || extractions.get(linked)?.status === before) return 'unchanged';
  return before === 'TIMED_OUT' ? 'corrected' : 'settled';
};

export const agreesWithOracle = fuzzProperty({
  name: 'webhook/agrees-with-oracle',
  claim:
    'answer, count and items agree with an independent oracle; without a valid signature nothing changes',
  weight: 130,
  expected: {
    settled: 0.03,
    corrected: 0.01,
    unchanged: 0.03,
    stored: 0.05,
    decrypted: 0.05,
    WebhookUnknownStatus: 0.01,
    'not-decryptable': 0.05,
    'not-json': 0.01,
    'no-task': 0.01,
    WebhookSignatureMissing: 0.005,
    WebhookSignatureMalformed: 0.02,
    WebhookSignatureMismatch: 0.1,
    WebhookTooLarge: 0.002,
    'a flipped bit': 0.03,
  },
  cases: fc.record({
    setup: worldSetup,
    plan: fc.oneof(
      { weight: 3, arbitrary: deliveryPlan },
      { weight: 2, arbitrary: unsignedPlan },
      { weight: 2, arbitrary: signedPlan(fc.oneof({ weight: 3, arbitrary: knownPayload }, validPayload)) },
      { weight: 1, arbitrary: signedAndDamaged },
    ),
  }),
  check: async ({ setup, plan }, see) => {
    const event = eventOf(plan, setup.keys);
    const { status, metric, delivery } = expectedOf(event, setup.keys);
    const world = webhookWorld(setup);
    const unchanged = { ...world.state(), sent: [], woken: [] };
    assertAnswer(await world.deliver(event), status);

    const counted = world.counted.filter((name) => name.startsWith('Webhook'));
    assert.deepEqual(counted, metric === undefined ? [] : [metric]);
    const { sent, woken, ...state } = delivery === undefined ? unchanged : expectedState(setup, delivery);
    assert.deepEqual(world.state(), state);
    assert.deepEqual(world.sent, sent);
    assert.deepEqual(world.woken, woken);

    if (delivery !== undefined) see(effectOf(setup, state, delivery.taskId));
    if (delivery !== undefined && plan.encrypted !== undefined) see('decrypted');
    if (metric !== undefined) see(metric);
    if (plan.flippedBit !== undefined && metric === 'WebhookSignatureMismatch') see('a flipped bit');
    if (metric === 'WebhookUnreadable') see(world.logged[0]?.reason ?? 'unknown');
  },
});
