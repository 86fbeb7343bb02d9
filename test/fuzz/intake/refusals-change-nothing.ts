import assert from 'node:assert/strict';
import fc from 'fast-check';
import { eventOf, requestPlan } from '../generators/request-event.ts';
import { fuzzProperty } from '../property.ts';
import { intakeWorld } from './intake-world.ts';
import { undocumentedIn } from './oracle.ts';

export const refusalsChangeNothing = fuzzProperty({
  name: 'intake/refusals-change-nothing',
  claim: 'a refused request seals, stores, records and starts nothing, and an accepted one does each once',
  weight: 8,
  expected: { refused: 0.3, accepted: 0.1, 'not set up': 0.01 },
  cases: fc.record({ plan: requestPlan, consentsSetUp: fc.boolean() }),
  check: async ({ plan, consentsSetUp }, see) => {
    const world = intakeWorld({ consentsSetUp });
    const answer = await world.request(eventOf(plan));
    const done = [world.sealed.length, world.requests.size, world.records.size, world.started.length];
    if (answer.statusCode === 202) {
      see('accepted');
      assert.deepEqual(done, [1, 1, 1, 1]);
      return;
    }
    see(answer.statusCode === 503 ? 'not set up' : 'refused');
    assert.ok(consentsSetUp ? answer.statusCode !== 503 : true);
    assert.deepEqual(undocumentedIn(answer), []);
    assert.deepEqual(done, [0, 0, 0, 0]);
  },
});
