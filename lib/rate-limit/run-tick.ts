import type { BreakerState } from '../breaker/breaker-state.ts';
import { parseBreakerState } from '../breaker/stored-breaker.ts';
import { logMessages } from '../observability/log-messages.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { changeItem, type Known, readItem, type SharedItemStore } from '../shared-item/shared-item.ts';
import { totalOf } from './call-counts.ts';
import {
  type Decision,
  decideTick,
  isBusy,
  type Release,
  recentCalls,
  recentSeconds,
  type Seen,
} from './decide-tick.ts';
import type { PermitStore } from './permit.ts';
import {
  isLeasedByAnother,
  maxPerSecond,
  parseRateState,
  type RateState,
  rateAt,
  rateItem,
} from './rate-state.ts';
import { type Cursors, readLine } from './read-line.ts';
import { type InLine, parseSlot, type StartLineStore } from './start-line.ts';

export type TickDeps = {
  /** The table `Breakers`. */
  readonly store: SharedItemStore;
  readonly permits: PermitStore;
  readonly line: StartLineStore;
  /**
   * The rate set by hand, or else by the setting, in starts a second. Undefined if none is set. Throws nothing: if what was set by hand cannot
   * be read, the setting counts.
   */
  readonly limit: () => Promise<number | undefined>;
  /** Whether an operator paused starts. Throws nothing: if it cannot be read, they are not paused. */
  readonly isPaused: () => Promise<boolean>;
  readonly now: () => Date;
  readonly newId: () => string;
  readonly telemetry: Telemetry;
  /** Publishes the metrics that were counted so far. */
  readonly publish: () => void;
};

export type Dispatcher = Pick<Seen, 'holder' | 'endsAt'>;

export type KnownRate = Known<RateState>;

/** What a dispatcher passes from one tick to the next. If it dies, all of this may be lost. */
export type Memory = Pick<Seen, 'served' | 'turnsGivenAt' | 'next'> & {
  readonly rate: KnownRate;
  readonly cursors: Cursors;
  /** When each callback token was chosen for its release. If the release fails, dispatch-starts.ts forgets it. */
  readonly chosenAt: ReadonlyMap<string, number>;
  /** When there was last something to do, and when metrics were last published. */
  readonly busyAt: number;
  readonly publishedAt: number;
};

/** How long the index may still show a released start. A release may wait until its tick ends. */
const indexLagMs = 3_000;
/** How long a start that the index still shows is not released again. */
const rememberedMs = 60_000;

/** Only the last seconds of a longer window are judged, because each tick reads one item for each second. */
const maxWindowSeconds = 100;

/** After this many lost races, a tick releases nothing. */
const maxRaces = 3;

const publishMs = 60_000;

const readBreakers = async (
  waiting: readonly InLine[],
  { store, now, telemetry }: TickDeps,
): Promise<ReadonlyMap<string, BreakerState>> => {
  const breakers = new Map<string, BreakerState>();
  for (const caller of new Set(waiting.map(({ slot }) => parseSlot(slot)?.caller ?? ''))) {
    try {
      breakers.set(caller, (await readItem(store, caller, parseBreakerState, now())).state);
    } catch (error) {
      telemetry.count('BreakerUnavailable');
      telemetry.failure('The state of a breaker is not available; its starts are released.', error);
    }
  }
  return breakers;
};

const readCalls = async (
  { windowFrom }: RateState,
  { line, now, telemetry }: TickDeps,
): Promise<Seen['calls']> => {
  if (windowFrom === undefined) return new Map();
  const second = Math.floor(now().getTime() / 1_000);
  const from = Math.max(Math.min(windowFrom, second - recentSeconds), second - maxWindowSeconds);
  try {
    return await line.counts(from, second);
  } catch (error) {
    // Starts are still released.
    telemetry.count('RateUnavailable');
    telemetry.failure('The calls of starts could not be read; the rate stays.', error);
    return undefined;
  }
};

/** Reads all that a tick decides from. */
const look = async (dispatcher: Dispatcher, memory: Memory, deps: TickDeps) => {
  const { line, now } = deps;
  const { served, turnsGivenAt, next, rate, cursors: before } = memory;
  const [limit, isPaused] = [await deps.limit(), await deps.isPaused()];
  const calls = await readCalls(rate.state, deps);
  const time = now().getTime();
  const chosenAt = new Map([...memory.chosenAt].filter(([, at]) => time - at < rememberedMs));
  const lagging = [...chosenAt.values()].filter((at) => time - at < indexLagMs).length;
  const wanted = Math.min(maxPerSecond, Math.ceil(rateAt(rate.state, limit, time) ?? maxPerSecond));
  const { waiting: found, cursors } = await readLine(line.next, before, wanted + lagging);
  const waiting = found.filter(({ callbackToken }) => !chosenAt.has(callbackToken));
  const breakers = await readBreakers(waiting, deps);
  const known = { ...dispatcher, served, turnsGivenAt, next, now: now().getTime() };
  const seen: Seen = { ...known, limit, isPaused, calls, waiting, breakers };
  return { seen, chosenAt, cursors };
};

/** Reports how a written decision changed the rate. */
const report = (
  { judgement, state }: Decision,
  seen: Seen,
  { telemetry }: Pick<TickDeps, 'telemetry'>,
): void => {
  if (judgement.judged === 'unchanged') return;
  const { judged, share } = judgement;
  if (judged === 'undone') telemetry.count('RateCutUndone');
  const perSecond = rateAt(state, seen.limit, seen.now) ?? 'any';
  const { accepted, refused, failed } = totalOf(recentCalls(seen));
  telemetry.log(logMessages.rateChanged, { judged, perSecond, share, accepted, refused, failed });
};

type Settled = {
  readonly decision: Pick<Decision, 'releases' | 'turns' | 'served' | 'turnsGivenAt'>;
  readonly rate: KnownRate;
  readonly next: number | undefined;
};

/**
 * Decides, writes the rate, and takes the permits. After a lost race for the rate, `changeItem` decides again from what is stored then. After
 * one for the permits it decides again, too. After three, or if the permits are throttled, nothing is released, not even in a breaker's turn.
 */
const settle = async (
  seen: Seen,
  before: KnownRate,
  { store, permits, now, newId, telemetry }: TickDeps,
): Promise<Settled | 'leased'> => {
  let [rate, next] = [before, seen.next];
  for (let races = 0; races < maxRaces; races += 1) {
    let decision: Decision | undefined;
    const decide = (state: RateState): RateState => {
      decision = isLeasedByAnother(state, seen.holder, seen.now)
        ? undefined
        : decideTick(state, { ...seen, next });
      return decision?.state ?? state;
    };
    const options = { parse: parseRateState, known: rate, now, newVersion: newId };
    rate = (await changeItem(store, rateItem, decide, options)).after;
    if (rate.isDamaged) telemetry.count('RateUnavailable');
    if (rate.state.lease?.holder !== seen.holder) return 'leased';
    // After 20 lost races `changeItem` gives up, and returns what is stored.
    if (decision === undefined || rate.state !== decision.state) break;
    // Reported before the permits are taken: if that race is lost, the next decision finds the rate already changed and would report nothing.
    report(decision, seen, { telemetry });
    if (decision.permits === undefined) return { decision, rate, next };
    const answer = await permits.update(decision.permits);
    if (answer.kind === 'taken') return { decision, rate, next: answer.next };
    if (answer.kind === 'throttled') break;
    next = answer.next;
  }
  const { served, turnsGivenAt } = seen;
  return { decision: { releases: [], turns: [], served, turnsGivenAt }, rate, next };
};

/** Counts the releases and, once a minute, the rate. */
const count = (
  released: number,
  perSecond: number | undefined,
  isDue: boolean,
  { telemetry, publish }: TickDeps,
): void => {
  if (released > 0) telemetry.count('StartsReleased', { value: released });
  if (isDue && perSecond !== undefined) telemetry.count('StartRate', { value: perSecond });
  if (isDue) publish();
};

/** Runs one tick: reads, decides, and writes the decision. Returns which starts to release, and when. */
export const runTick = async (
  dispatcher: Dispatcher,
  memory: Memory,
  deps: TickDeps,
): Promise<
  | { readonly kind: 'leased' }
  | { readonly kind: 'releases'; readonly releases: readonly Release[]; readonly memory: Memory }
> => {
  const { seen, chosenAt, cursors } = await look(dispatcher, memory, deps);
  const settled = await settle(seen, memory.rate, deps);
  if (settled === 'leased') return { kind: 'leased' };
  const { decision, rate, next } = settled;
  const { now, limit } = seen;
  const releases = [...decision.turns.map((entry) => ({ entry, afterMs: 0 })), ...decision.releases];
  const isDue = now - memory.publishedAt >= publishMs;
  count(releases.length, rateAt(rate.state, limit, now), isDue, deps);
  const { served, turnsGivenAt } = decision;
  const chosen = releases.map(({ entry }) => [entry.callbackToken, now] as const);
  return {
    kind: 'releases',
    releases,
    memory: {
      ...{ rate, next, cursors, served, turnsGivenAt },
      chosenAt: new Map([...chosenAt, ...chosen]),
      busyAt: isBusy(rate.state, seen) ? now : memory.busyAt,
      publishedAt: isDue ? now : memory.publishedAt,
    },
  };
};
