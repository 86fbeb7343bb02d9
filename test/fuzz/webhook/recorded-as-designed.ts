import assert from 'node:assert/strict';
import fc from 'fast-check';
import { knownDelivery, validDelivery } from '../generators/delivery-bytes.ts';
import { eventOf, signedPlan } from '../generators/delivery-event.ts';
import { worldSetup } from '../generators/world-setup.ts';
import { fuzzProperty } from '../property.ts';
import { expectedState } from './expected-state.ts';
import { assertAnswer } from './webhook-answers.ts';
import { webhookWorld } from './webhook-world.ts';

const delivery = fc.oneof({ weight: 3, arbitrary: knownDelivery }, { weight: 1, arbitrary: validDelivery });

export const recordedAsDesigned = fuzzProperty({
  name: 'webhook/recorded-as-designed',
  claim:
    'a signed delivery changes the items as the tables of the design state, in every status, and nothing else',
  weight: 15,
  expected: { settled: 0.1, corrected: 0.05, unchanged: 0.1, stored: 0.1 },
  cases: fc.record({
    setup: worldSetup,
    delivery,
    plan: signedPlan(fc.constant(Buffer.alloc(0))),
  }),
  check: async ({ setup, delivery, plan }, see) => {
    const world = webhookWorld(setup);
    const payload = Buffer.from(JSON.stringify(delivery));
    const answer = await world.deliver(eventOf({ ...plan, payload }, setup.keys));
    assertAnswer(answer, 204);
    const { sent, woken, ...state } = expectedState(setup, delivery);
    assert.deepEqual(world.state(), state);
    assert.deepEqual(world.sent, sent);
    assert.deepEqual(world.woken, woken);

    const linked = setup.tasks.find(({ taskId }) => taskId === delivery.taskId)?.extractionId;
    const before = setup.extractions.find(({ extractionId }) => extractionId === linked)?.status;
    const changed = before !== undefined && state.extractions.get(linked ?? '')?.status !== before;
    if (linked === undefined) see('stored');
    else if (!changed) see('unchanged');
    else see(before === 'TIMED_OUT' ? 'corrected' : 'settled');
    see(plan.encrypted === undefined ? 'plain' : 'encrypted');
  },
});
