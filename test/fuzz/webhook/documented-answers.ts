import fc from 'fast-check';
import { deliveryPlan, eventOf } from '../generators/delivery-event.ts';
import { worldSetup } from '../generators/world-setup.ts';
import { fuzzProperty } from '../property.ts';
import { assertAnswer } from './webhook-answers.ts';
import { webhookWorld } from './webhook-world.ts';

export const documentedAnswers = fuzzProperty({
  name: 'webhook/documented-answers',
  claim: 'every delivery is answered 204, 400, 401 or 413, with exactly the documented bytes',
  weight: 25,
  expected: { 204: 0.15, 400: 0.1, 401: 0.1, 413: 0.005 },
  cases: fc.record({ setup: worldSetup, plan: deliveryPlan }),
  check: async ({ setup, plan }, see) => {
    const answer = await webhookWorld(setup).deliver(eventOf(plan, setup.keys));
    see(String(answer.statusCode));
    assertAnswer(answer, 204, 400, 401, 413);
  },
});
