import assert from 'node:assert/strict';
import fc from 'fast-check';
import { NotConfigured } from '#lib/not-configured.ts';
import { knownPayload } from '../generators/delivery-bytes.ts';
import { eventOf, signedPlan } from '../generators/delivery-event.ts';
import { worldSetup } from '../generators/world-setup.ts';
import { fuzzProperty } from '../property.ts';
import { assertAnswer } from './webhook-answers.ts';
import { type WorldHooks, webhookWorld, withoutDueAt } from './webhook-world.ts';

/** Its message is what a dependency might quote; none of it may be answered. */
class Down extends Error {
  override readonly name = 'Down';
}

const dependencies = [
  'key secret down',
  'key secret not filled',
  'recordStatus before',
  'recordStatus after',
  'apply before',
  'apply after',
  'wake before',
  'wake after',
] as const;

/** Breaks one dependency, once, before or after it took effect. */
const broken = (
  dependency: (typeof dependencies)[number],
  keys: readonly string[],
): WorldHooks & { hits: () => number } => {
  let hits = 0;
  const failIf = (name: typeof dependency): void => {
    if (name !== dependency || hits > 0) return;
    hits += 1;
    throw name === 'key secret not filled'
      ? new NotConfigured('secret', 'webhook-signing-key')
      : new Down('SENTINEL');
  };
  return {
    hits: () => hits,
    fetchKeys: async () => {
      failIf('key secret down');
      failIf('key secret not filled');
      return keys;
    },
    beforeWake: () => failIf('wake before'),
    afterWake: () => failIf('wake after'),
    stores: {
      before: ({ method }) => {
        if (method === 'recordStatus') failIf('recordStatus before');
        if (method === 'apply') failIf('apply before');
      },
      after: ({ method }) => {
        if (method === 'recordStatus') failIf('recordStatus after');
        if (method === 'apply') failIf('apply after');
      },
    },
  };
};

export const failingDependency = fuzzProperty({
  name: 'webhook/failing-dependency',
  claim:
    'if a dependency fails, the answer is 500 or 503, and the next delivery leaves the items as without the failure',
  weight: 8,
  expected: { 'key secret down': 0.05, 'recordStatus after': 0.05, 'apply after': 0.03, 'wake after': 0.01 },
  cases: fc.record({
    setup: worldSetup,
    plan: signedPlan(knownPayload),
    dependency: fc.constantFrom(...dependencies),
  }),
  check: async ({ setup, plan, dependency }, see) => {
    const event = eventOf(plan, setup.keys);
    const clean = webhookWorld(setup);
    await clean.deliver(event);

    const hooks = broken(dependency, setup.keys);
    const world = webhookWorld(setup, hooks);
    const answer = await world.deliver(event);
    if (hooks.hits() === 0) {
      see('not reached');
      assertAnswer(answer, 204);
    } else {
      see(dependency);
      assertAnswer(answer, dependency === 'key secret not filled' ? 503 : 500);
      assertAnswer(await world.deliver(event), 204);
    }
    assert.deepEqual(withoutDueAt(world.state()), withoutDueAt(clean.state()));
    assert.deepEqual([...new Set(world.woken)], clean.woken);
  },
});
