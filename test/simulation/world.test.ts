import { describe, expect, test } from 'vitest';
import { allowedTransitions } from '#lib/extraction/change.ts';
import { readConfig } from '../../infra/settings/config.ts';
import { findScenario } from './campaign/find-scenario.ts';
import { foundSchedules } from './campaign/found-schedules.ts';
import { replay } from './campaign/replay.ts';
import { searchBounded } from './campaign/search-bounded.ts';
import { runSeed, searchRandom } from './campaign/search-random.ts';
import { showFinding } from './campaign/show-finding.ts';
import { newTally } from './campaign/tally.ts';
import { documentedTransitions } from './invariants/transitions-and-outcomes.ts';
import { settings as defaults } from './many-extractions/settings.ts';
import { runWorld } from './run-world.ts';
import { upTo } from './scheduler/budget.ts';
import type { OptionList } from './scheduler/option.ts';
import { followSchedule } from './scheduler/schedule.ts';
import { traced } from './trace/trace.ts';
import { scenarios } from './world/draw-scenario.ts';
import { plain } from './world/scenario.ts';
import { settings } from './world/settings.ts';
import type { World } from './world/world.ts';

test('the simulated settings are accepted for a deployment', () => {
  const config = readConfig({ stage: 'accept', providerBaseUrl: 'https://provider.example', ...settings });
  expect(config).toMatchObject(settings);
});

test('the settings of the populations are the defaults', () => {
  const config = readConfig({ stage: 'simulated', providerBaseUrl: 'https://provider.example' });
  expect(config).toMatchObject(defaults);
});

test('the documented transitions are those of the code', () => {
  const coded = Object.values(allowedTransitions).flatMap(({ from, to }) =>
    from.flatMap((one) => to.map((other) => `${one}>${other}`)),
  );
  expect([...documentedTransitions].sort()).toEqual(coded.sort());
});

/** `campaign.test.ts` runs more of them, and counts what occurred. */
test('every invariant holds in each scenario without departures, and in 300 seeds', async () => {
  const tally = newTally();
  for (const scenario of scenarios) await searchBounded(scenario, upTo(0), tally, () => true);
  await searchRandom(1, 1, tally, (done) => done < 300);
  const [finding] = tally.findings;
  expect(finding === undefined ? '' : await showFinding(finding)).toBe('');
  expect(tally.schedules).toBe(scenarios.length + 300);
});

/** Where parts are dead, invariants may break. */
const run = (name: string) =>
  runWorld(findScenario(name), followSchedule([]), { mayBreak: () => name.includes('-without-') });

describe('the schedule without departures', () => {
  test('settles by the webhook and collects with one read and one message, in one state transition', async () => {
    const { world } = await run('plain');
    expect(world.record).toMatchObject({ status: 'COMPLETED', settledBy: 'webhook' });
    expect(world.execution).toMatchObject({ status: 'SUCCEEDED', transitions: 1 });
    expect(world.queue.accepted.map(({ message }) => message.cause)).toEqual(['webhook']);
    expect(world.readers.map(({ reads }) => reads)).toEqual([1]);
    expect(world.provider.startCalls).toHaveLength(1);
  });

  test.each([
    ['at-once', 'COMPLETED with results'],
    ['silent', 'COMPLETED with results'],
    ['late', 'COMPLETED with results'],
    ['never', 'TIMED_OUT deadline-passed'],
    ['refused', 'REJECTED http-400'],
    ['callers-token', 'REJECTED session-token-refused'],
    ['busy-for-long', 'NOT_STARTED start-window-over'],
    ['broken-deploy', 'COMPLETED with results'],
    ['consent-v1', 'COMPLETED with results'],
    ['consent-v2', 'FAILED ENTITY'],
    ['consent-outage', 'COMPLETED with results'],
    ['consent-too-large', 'COMPLETED results-too-large'],
    ['consent-no-data', 'COMPLETED with results'],
    ['consent-byte-order-mark', 'COMPLETED with results'],
    ['ends-process', 'COMPLETED InternalError'],
    ['ends-process-late', 'TIMED_OUT deadline-passed InternalError'],
    ['ends-process-consent', 'TIMED_OUT deadline-passed InternalError'],
    ['ends-process-silent', 'TIMED_OUT deadline-passed InternalError'],
    ['ends-two-processes', 'COMPLETED with results'],
    ['newer-record', 'COMPLETED with results'],
    ['others-task', 'UNCONFIRMED task-linked-elsewhere'],
    ['too-large-silent', 'TIMED_OUT deadline-passed results-too-large'],
    ['plain-without-machine-from-0', 'NOT_STARTED start-window-over'],
    ['plain-without-machine-from-8', 'COMPLETED with results'],
    ['plain-without-machine+webhook-from-8', 'COMPLETED with results'],
    ['late-without-webhook-from-0', 'COMPLETED with results'],
    ['plain-without-queue-from-0', 'COMPLETED with results'],
    ['plain-without-queue+sweep-from-8', 'COMPLETED with results'],
    ['consent-v1-without-queue-from-8', 'open RUNNING'],
    ['consent-v1-without-sweep-from-0', 'COMPLETED with results'],
  ])('of %s ends as %s', async (name, ends) => {
    const { record } = (await run(name)).world;
    const { status, reason, collectionError, results, dueShard } = record ?? {};
    const is = [dueShard && 'open', status, reason, collectionError, results && 'with results'];
    expect(is.filter((part) => part !== undefined).join(' ')).toBe(ends);
  });
});

test('by consent, the queue polls at growing intervals, and the machine ends with the start', async () => {
  const { world } = await run('consent-late');
  expect(world.record).toMatchObject({ status: 'COMPLETED', settledBy: 'reconcile' });
  expect(world.execution).toMatchObject({ status: 'SUCCEEDED', transitions: 1 });
  expect(new Set(world.queue.accepted.map(({ message }) => message.cause))).toEqual(new Set(['due']));
  // The last read before TIMED_OUT is made by the slow queue.
  expect(world.readers.every(({ reads, isSlow }) => reads === 1 || isSlow === false)).toBe(true);
});

/** Chooses each of these as soon as it is possible and its time has come, in this order. */
const choosing =
  (plan: { readonly event: string; readonly when?: () => boolean }[]) =>
  (_step: number, options: OptionList): number => {
    const [next] = plan;
    if (next === undefined || next.when?.() === false) return 0;
    const index = Array.from({ length: options.size }, (_, at) => options.label(at)).indexOf(next.event);
    if (index < 0) return 0;
    plan.shift();
    return index;
  };

test('an item that a delayed copy of its put restored is not lost', async () => {
  const plan = [
    { event: 'intake of the caller: put requests — repeated, first copy takes effect later' },
    { event: 'start-task 3: get extractions — process interrupted before it' },
  ];
  const scenario = {
    ...plain,
    requestLostAfter: 1,
    startAnswers: ['busy'],
    interruptions: 'unreported',
  } as const;
  const { world, violation } = await runWorld(scenario, choosing(plan), {});
  expect(plan).toEqual([]);
  expect(world.counted.get('RequestDataGone')).toBe(1);
  expect(world.record).toMatchObject({ status: 'NOT_STARTED', reason: 'start-abandoned' });
  expect(violation).toBeUndefined();
});

test('a redriven execution leaves a later record under its id alone', async () => {
  let world: World | undefined;
  const plan = [
    {
      event: 'an operator stops the execution',
      when: () => world?.record?.attemptId !== undefined && world.record.status === 'REQUESTED',
    },
    { event: 'an operator erases the record, and the caller repeats the request', when: () => true },
    {
      event: 'an operator redrives the execution',
      when: () => world?.record?.fingerprint === 'fingerprint-3',
    },
  ];
  const { world: ended, violation } = await runWorld(findScenario('busy-first'), choosing(plan), {
    chosen: (its) => {
      world = its;
    },
  });
  expect(plan).toEqual([]);
  expect(violation).toBeUndefined();
  expect(ended.execution).toMatchObject({ redrives: 1, state: 'StartTask', status: 'SUCCEEDED' });
  expect(ended.record).toMatchObject({ status: 'NOT_STARTED', fingerprint: 'fingerprint-3' });
  expect(ended.provider.startCalls).toHaveLength(1);
});

test.each(foundSchedules())('%s, which broke an invariant once, breaks none', async (named) => {
  const { isBroken, text } = await replay(named);
  expect(isBroken ? text : '').toBe('');
});

describe('a seed', () => {
  test('gives the same schedule every time, and the same list of departures', async () => {
    const trace = traced();
    const first = await runSeed(4_713, trace.listener);
    const again = traced();
    const second = await runWorld(findScenario(first.name), followSchedule(first.schedule), again.listener);
    expect(first.schedule.length).toBeGreaterThan(0);
    expect(again.text(second.world)).toBe(trace.text(first.ran.world));
  });
});
