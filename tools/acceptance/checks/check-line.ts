import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DisableRuleCommand, EnableRuleCommand, EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { countInLine } from '../../../lib/aws/dynamo-start-line.ts';
import { parseRateState, type RateState, rateItem } from '../../../lib/rate-limit/rate-state.ts';
import { changeItem } from '../../../lib/shared-item/shared-item.ts';
import { breakersOf } from '../../cli/aws/stores.ts';
import { clearRate, setRate } from '../../cli/operate/change-holds.ts';
import { limitParallelCalls } from '../../cli/operate/limit-parallel-calls.ts';
import { type AcceptContext, type Check, expectNone, passed, Unmet, webhookArrives } from './check.ts';
import { describeExtraction, extract, isDone, readUntil, requestOf } from './request-and-await.ts';

const requests = 60;
/** So slow that most of them wait while they are requested. */
const slowPerSecond = 0.25;
/**
 * An extraction takes an emulator a second of a processor, which the fake provider shares. With ten a second its answers
 * took 12 s on a busy machine; one that takes longer than a call may (`providerTimeoutMs`) is rightly UNCONFIRMED.
 */
const fastPerSecond = 1;
/** Without its rule, nobody takes over. */
const deadMs = 120_000;
const atOnce = 5;

const ruleOf = async ({ deployment }: AcceptContext): Promise<string> => {
  const rules = await deployment.resources('AWS::Events::Rule');
  const found = rules.find((name) => name.includes('Dispatch'));
  if (found !== undefined) return found;
  throw new Unmet(`The stack ${deployment.stackName} has no rule of the dispatcher.`);
};

/** A lease is ignored as damaged if it ends in more than three minutes (lib/rate-limit/rate-state.ts). */
const heldMs = 170_000;

/**
 * How to take the lease of the dispatcher, which ends once it finds that, and to give the lease back. It is held for longer than the check
 * waits: the tick of a busy emulator can take longer than the lease of a dispatcher, which would then go on.
 */
const leaseOf = ({ deployment, now, randomId }: AcceptContext) => {
  const holder = randomId();
  const deps = { parse: parseRateState, now, newVersion: randomId };
  const change = (decide: (state: RateState) => RateState) =>
    changeItem(breakersOf(deployment), rateItem, decide, deps);
  return {
    take: () => {
      const until = now().getTime() + heldMs;
      return change((state) => ({ ...state, lease: { holder, until, ends: until } }));
    },
    giveBack: () => change(({ lease: _, ...state }) => state),
  };
};

/** Until nobody goes in line any more, as such a start would invoke the dispatcher. */
const untilAllWait = async ({ sleep }: AcceptContext, count: () => Promise<number>): Promise<void> => {
  for (let [before, now] = [-1, await count()]; now > before; [before, now] = [now, await count()])
    await sleep(5_000);
};

/** For two minutes, the rule is disabled and no dispatcher has the lease. Throws Unmet if somebody was released in the second of them. */
const withoutDispatcher = async (context: AcceptContext, count: () => Promise<number>): Promise<number> => {
  const { client, sleep, waitFor } = context;
  const events = new EventBridgeClient(client);
  const Name = await ruleOf(context);
  await events.send(new DisableRuleCommand({ Name }));
  const lease = leaseOf(context);
  try {
    await lease.take();
    waitFor('two minutes without a dispatcher');
    await sleep(deadMs / 2);
    const before = await count();
    await lease.take();
    await sleep(deadMs / 2);
    const after = await count();
    if (before === 0) throw new Unmet('Nobody waits in line any more, so that the check shows nothing.');
    if (before !== after) throw new Unmet(`${before - after} were released without a dispatcher.`);
    return after;
  } finally {
    await events.send(new EnableRuleCommand({ Name }));
    await lease.giveBack();
  }
};

export const line: Check = {
  id: 'line',
  title: 'With a set rate, a crowd waits in line, and none is lost without a dispatcher for two minutes',
  turn: 'alone',
  dependsOn: webhookArrives,
  seconds: () => 600,
  run: async (context) => {
    const { deployment, client, now, randomId, waitFor } = context;
    const breakers = breakersOf(deployment);
    const deps = { now, newVersion: randomId };
    const setTo = (perSecond: number): Promise<void> =>
      setRate(breakers, { perSecond, reason: 'the check line', since: now().getTime() }, deps);
    const table = deployment.output('StartLineTableName');
    const count = (): Promise<number> => countInLine(new DynamoDBClient(client), table);
    await setTo(slowPerSecond);
    try {
      // The functions read it once in 5 s.
      await context.sleep(6_000);
      waitFor(`${requests} requests`);
      const paced = limitParallelCalls(atOnce);
      const one = () => extract(context, requestOf('line', {}));
      const ids = await Promise.all(Array.from({ length: requests }, () => paced(one)));
      await untilAllWait(context, count);
      const held = await withoutDispatcher(context, count);
      await setTo(fastPerSecond);
      const done = await Promise.all(
        ids.map((id) => paced(() => readUntil(context, id, 'COMPLETED after its wait in line', isDone))),
      );
      const others = done.filter(({ status }) => status !== 'COMPLETED');
      expectNone(others.map((other) => `${other.extractionId} is ${describeExtraction(other)}.`));
      return passed(`${requests} are COMPLETED, of which ${held} waited without a dispatcher`);
    } finally {
      await clearRate(breakers, deps);
    }
  },
};
