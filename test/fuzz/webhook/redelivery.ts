import assert from 'node:assert/strict';
import fc from 'fast-check';
import { knownPayload } from '../generators/delivery-bytes.ts';
import { eventOf, signedPlan } from '../generators/delivery-event.ts';
import { worldSetup } from '../generators/world-setup.ts';
import { fuzzProperty } from '../property.ts';
import { assertAnswer } from './webhook-answers.ts';
import { webhookWorld, withoutDueAt } from './webhook-world.ts';

export const redelivery = fuzzProperty({
  name: 'webhook/redelivery',
  claim: 'a delivery that arrives 2 to 5 times, at once or one after the other, has the same effect as once',
  weight: 10,
  expected: { 'one after the other': 0.3, 'at once': 0.3, settled: 0.1 },
  cases: fc.record({
    setup: worldSetup,
    plan: signedPlan(knownPayload),
    times: fc.integer({ min: 2, max: 5 }),
    atOnce: fc.boolean(),
  }),
  check: async ({ setup, plan, times, atOnce }, see) => {
    const event = eventOf(plan, setup.keys);
    const once = webhookWorld(setup);
    await once.deliver(event);
    const often = webhookWorld(setup);
    const events = Array.from({ length: times }, () => event);
    if (atOnce) {
      for (const answer of await Promise.all(events.map(often.deliver))) assertAnswer(answer, 204);
    } else {
      for (const one of events) assertAnswer(await often.deliver(one), 204);
    }
    see(atOnce ? 'at once' : 'one after the other');
    if (once.counted.includes('SettledByWebhook')) see('settled');
    // `dueAt` may be earlier, because a used callback token means that the machine is gone.
    assert.deepEqual(withoutDueAt(often.state()), withoutDueAt(once.state()));
    for (const [id, record] of often.state().extractions) {
      const usual = once.state().extractions.get(id)?.dueAt;
      assert.ok((record.dueAt ?? '') <= (usual ?? ''), 'dueAt is later than after one delivery');
      assert.equal(record.dueAt === undefined, usual === undefined);
    }
    const counted = often.counted.filter((name) => name === 'Corrected');
    // Nothing distinguishes two writes in the same millisecond, so both are counted.
    assert.ok(atOnce || counted.length <= 1, 'a correction was counted more than once');
  },
});
