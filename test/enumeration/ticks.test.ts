import { expect, test } from 'vitest';
import type { BreakerState } from '#lib/breaker/breaker-state.ts';
import { callKey, noCalls } from '#lib/rate-limit/call-counts.ts';
import { type Decision, decideTick, type Seen, tickMs } from '#lib/rate-limit/decide-tick.ts';
import { stepMs } from '#lib/rate-limit/permit.ts';
import { leaseMs, type RateState } from '#lib/rate-limit/rate-state.ts';
import { type InLine, type Place, slotOf } from '#lib/rate-limit/start-line.ts';

const now = 1_800_000_000_000;
const holder = 'this one';

const entry = (id: string, fields: Partial<Place>): InLine => ({
  extractionId: id,
  requestId: `request-${id}`,
  callbackToken: `token-${id}`,
  slot: slotOf({
    caller: 'a',
    priority: 'interactive',
    group: 'bank',
    at: new Date(now - 1_000).toISOString(),
    extractionId: id,
    ...fields,
  }),
});

const leases = {
  none: undefined,
  own: { holder, until: now + 5_000, ends: now + 60_000 },
  'another’s that is over': { holder: 'another', until: now, ends: now + 60_000 },
};

/** Of caller a's bank. Caller b has none. */
const breakers: Readonly<Record<string, BreakerState>> = {
  closed: { groups: [] },
  open: { groups: [{ name: 'bank', failed: [], opened: { since: now, pause: 30, turn: { at: now + 1 } } }] },
  turn: { groups: [{ name: 'bank', failed: [], opened: { since: now, pause: 30, turn: { at: now } } }] },
};

/** Three entries in two lanes: two of caller a, one of caller b. */
const line = [entry('a-1', {}), entry('a-2', {}), entry('b-1', { caller: 'b' })];

type World = {
  readonly name: string;
  readonly lease: keyof typeof leases;
  readonly breaker: string;
  readonly rate: number | undefined;
  readonly next: number | undefined;
  readonly waiting: readonly InLine[];
  readonly isPaused: boolean;
  readonly isRefused: boolean;
};

const worlds: readonly World[] = (Object.keys(leases) as (keyof typeof leases)[]).flatMap((lease) =>
  Object.keys(breakers).flatMap((breaker) =>
    [undefined, 0.5, 2, 200].flatMap((rate) =>
      [undefined, now - 3_600_000, now - 900, now, now + 700, now + 1_700, now + 3_600_000].flatMap((next) =>
        [line, line.slice(0, 1), line.slice(2), []].flatMap((waiting) =>
          [false, true].flatMap((isPaused) =>
            [false, true].map((isRefused) => ({
              name: `lease ${lease}, breaker ${breaker}, rate ${rate}, next ${next === undefined ? 'unknown' : next - now}, ${waiting.length} wait, ${isPaused ? 'paused' : 'not paused'}, ${isRefused ? 'a is refused' : 'nobody is refused'}`,
              ...{ lease, breaker, rate, next, waiting, isPaused, isRefused },
            })),
          ),
        ),
      ),
    ),
  ),
);

const decide = (world: World): Decision => {
  const lease = leases[world.lease];
  const state: RateState = { lineUntil: 0, ...(lease && { lease }), windowFrom: now / 1_000 - 5 };
  const calls = new Map(
    world.isRefused
      ? [
          [
            now / 1_000 - 2,
            new Map([[callKey('a', 'bank'), { ...noCalls, refused: 10, retryAt: now + 60_000 }]]),
          ],
        ]
      : [],
  );
  const seen: Seen = {
    ...{ now, holder, endsAt: now + 900_000, limit: world.rate, isPaused: world.isPaused },
    ...{ waiting: world.waiting, calls, next: world.next, served: new Map(), turnsGivenAt: new Map() },
    breakers: new Map([['a', breakers[world.breaker] as BreakerState]]),
  };
  return decideTick(state, seen);
};

const callerOf = ({ extractionId }: InLine): string => extractionId.slice(0, 1);

/** What holds for every decision of a tick. Returns what is wrong. */
const rules: Readonly<Record<string, (world: World, decision: Decision) => boolean>> = {
  'it has the lease after it': (_, { state }) =>
    state.lease?.holder === holder && state.lease.until === now + leaseMs,
  'nobody is released twice': (_, { releases, turns }) => {
    const tokens = [...releases.map(({ entry: of }) => of), ...turns].map((one) => one.callbackToken);
    return new Set(tokens).size === tokens.length;
  },
  'a pause releases nobody': ({ isPaused }, { releases, turns }) =>
    !isPaused || releases.length + turns.length === 0,
  'an open breaker holds its group, and nobody else': ({ breaker, ...world }, { releases, turns }) =>
    breaker === 'closed'
      ? turns.length === 0
      : releases.every(({ entry: of }) => callerOf(of) === 'b') &&
        turns.every((of) => breaker === 'turn' && callerOf(of) === 'a') &&
        turns.length <= (world.waiting.length > 0 ? 1 : 0),
  'who is asked to wait is not released, and others are': ({ isRefused }, { releases, turns }) =>
    !isRefused || [...turns, ...releases.map(({ entry: of }) => of)].every((of) => callerOf(of) === 'b'),
  'as many as the rate has until the next tick': ({ rate, next = now }, { releases }) => {
    if (rate === undefined) return true;
    const step = stepMs(rate);
    const from = next < now - 1_000 || next > now + 2_000 + 2 * step ? now : next;
    return releases.length <= Math.max(0, Math.ceil((now + tickMs - from) / step));
  },
  'evenly, and within the tick': ({ rate }, { releases }) =>
    releases.every(
      ({ afterMs }, index) =>
        afterMs >= 0 &&
        afterMs < tickMs &&
        (rate === undefined ||
          index < 2 ||
          afterMs - (releases[index - 1]?.afterMs ?? 0) <= stepMs(rate) + 0.01),
    ),
  'each has its permit, and a turn needs none': (_, { permits, releases }) =>
    (permits === undefined) === (releases.length === 0),
  'callers go by turns': (_, { releases }) =>
    releases.length < 2 ||
    new Set(releases.slice(0, 2).map(({ entry: of }) => callerOf(of))).size === 2 ||
    releases.every(({ entry: of }) => callerOf(of) === callerOf(releases[0]?.entry as InLine)),
  'new starts queue only behind who waits for a rate': ({ rate }, { state }) =>
    rate !== undefined || state.lineUntil === 0,
  'it is pure': (world, decision) => JSON.stringify(decide(world)) === JSON.stringify(decision),
};

test.each(Object.entries(rules))('of every decision of a tick: %s', (_, holds) => {
  const broken = worlds.find((world) => !holds(world, decide(world)));
  expect(broken?.name).toBeUndefined();
  expect(worlds.length).toBe(3 * 3 * 4 * 7 * 4 * 2 * 2);
});

test('some are released, given turns and held in it', () => {
  const all = worlds.map(decide);
  expect(all.some(({ releases }) => releases.length === 3)).toBe(true);
  expect(all.some(({ turns }) => turns.length === 1)).toBe(true);
  expect(all.some(({ state }) => state.lineUntil > now)).toBe(true);
  expect(all.some(({ state }) => state.slowStart !== undefined)).toBe(true);
});
