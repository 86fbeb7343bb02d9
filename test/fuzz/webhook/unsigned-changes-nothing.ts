import assert from 'node:assert/strict';
import fc from 'fast-check';
import { deliveryPlan, eventOf, unsignedPlan } from '../generators/delivery-event.ts';
import { worldSetup } from '../generators/world-setup.ts';
import { fuzzProperty } from '../property.ts';
import { receivedBytes, signingKeyOf } from './oracle.ts';
import { webhookWorld } from './webhook-world.ts';

export const unsignedChangesNothing = fuzzProperty({
  name: 'webhook/unsigned-changes-nothing',
  claim: 'without a valid signature no item changes, no machine is woken, and the answer is 401 or 413',
  weight: 20,
  expected: { 'unsigned, 401': 0.6 },
  cases: fc.record({
    setup: worldSetup,
    plan: fc.oneof({ weight: 3, arbitrary: unsignedPlan }, { weight: 1, arbitrary: deliveryPlan }),
  }),
  check: async ({ setup, plan }, see) => {
    const event = eventOf(plan, setup.keys);
    const world = webhookWorld(setup);
    const before = world.state();
    const { statusCode } = await world.deliver(event);
    if (signingKeyOf(event.headers['x-service-signature'], receivedBytes(event), setup.keys) !== undefined) {
      see('signed');
      return;
    }
    see(`unsigned, ${statusCode}`);
    assert.ok(statusCode === 401 || statusCode === 413, `answered ${statusCode}`);
    assert.deepEqual(world.state(), before);
    assert.deepEqual(world.woken, []);
  },
});
