import assert from 'node:assert/strict';
import fc from 'fast-check';
import { deliveryPlan, eventOf } from '../generators/delivery-event.ts';
import { worldSetup } from '../generators/world-setup.ts';
import { fuzzProperty } from '../property.ts';
import { expectedOf } from './oracle.ts';
import { webhookWorld } from './webhook-world.ts';

export const agreesWithOracle = fuzzProperty({
  name: 'webhook/agrees-with-oracle',
  claim: 'answer, count and stored items agree with an independent oracle, HMAC and padding included',
  weight: 25,
  expected: {
    recorded: 0.1,
    WebhookUnknownStatus: 0.02,
    WebhookUnreadable: 0.1,
    WebhookSignatureMissing: 0.005,
    WebhookSignatureMalformed: 0.02,
    WebhookSignatureMismatch: 0.05,
    WebhookTooLarge: 0.005,
    decrypted: 0.01,
  },
  cases: fc.record({ setup: worldSetup, plan: deliveryPlan }),
  check: async ({ setup, plan }, see) => {
    const event = eventOf(plan, setup.keys);
    const expected = expectedOf(event, setup.keys);
    const world = webhookWorld(setup);
    const answer = await world.deliver(event);

    see(expected.metric ?? 'recorded');
    if (expected.delivery !== undefined && plan.encrypted !== undefined) see('decrypted');
    assert.equal(answer.statusCode, expected.status);
    const counted = world.counted.filter((name) => name.startsWith('Webhook'));
    assert.deepEqual(counted, expected.metric === undefined ? [] : [expected.metric]);
    const taskId = expected.delivery?.taskId;
    assert.equal(world.state().tasks.has(taskId ?? ''), taskId !== undefined);
    const [logged] = world.logged;
    assert.equal(answer.statusCode === 204 && logged?.recorded !== 'unknown-status', taskId !== undefined);
  },
});
