import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type DeliveryPlan, eventOf, signedPlan, unsignedPlan } from '../generators/delivery-event.ts';
import { knownTasks, terminalStatus, worldSetup } from '../generators/world-setup.ts';
import { fuzzProperty } from '../property.ts';
import { webhookWorld, withoutDueAt } from './webhook-world.ts';

const plan = signedPlan(fc.constant(Buffer.alloc(0)));

/** One to five deliveries of each of some tasks, all of one task with one status, as a provider makes them. */
const deliveries = fc
  .array(
    fc.record({ task: fc.nat(knownTasks.length - 1), taskStatus: terminalStatus, plan, times: fc.nat(4) }),
    { minLength: 1, maxLength: knownTasks.length },
  )
  .map((all) =>
    all
      .filter(({ task }, index) => all.findIndex((one) => one.task === task) === index)
      .flatMap(({ task, taskStatus, plan, times }) => {
        const payload = Buffer.from(JSON.stringify({ taskId: knownTasks[task], taskStatus }));
        return Array.from({ length: times + 1 }, (): DeliveryPlan => ({ ...plan, payload }));
      }),
  );

export const order = fuzzProperty({
  name: 'webhook/order',
  claim:
    'deliveries of several tasks leave the same items in every order, with and without forged ones in between',
  weight: 5,
  expected: { 'two tasks or more': 0.5, 'forgeries in between': 0.5 },
  cases: fc.record({
    setup: worldSetup,
    deliveries,
    forgeries: fc.array(unsignedPlan, { maxLength: 2 }),
    shuffle: fc.infiniteStream(fc.nat(1_000)),
  }),
  check: async ({ setup, deliveries, forgeries, shuffle }, see) => {
    const straight = webhookWorld(setup);
    for (const one of deliveries) await straight.deliver(eventOf(one, setup.keys));

    const shuffled = [...deliveries, ...forgeries]
      .map((one) => [Number(shuffle.next().value), one] as const)
      .sort(([one], [other]) => one - other);
    const reordered = webhookWorld(setup);
    for (const [, one] of shuffled) await reordered.deliver(eventOf(one, setup.keys));

    if (new Set(deliveries.map(({ payload }) => payload.toString())).size > 1) see('two tasks or more');
    if (forgeries.length > 0) see('forgeries in between');
    assert.deepEqual(withoutDueAt(reordered.state()), withoutDueAt(straight.state()));
    assert.deepEqual(reordered.woken.toSorted(), straight.woken.toSorted());
  },
});
