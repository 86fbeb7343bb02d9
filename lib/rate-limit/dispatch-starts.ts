import { type BreakerState, mayStart, turnsOf } from '../breaker/breaker-state.ts';
import {
  type BreakerStore,
  changeItem,
  type Known,
  parseBreakerState,
  readItem,
} from '../breaker/breaker-store.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { type Chosen, chooseNext, type Gate, type Quota, type Served } from './choose-next.ts';
import {
  isMeasured,
  isMeasuring,
  type Judged,
  judgeCalls,
  measuringMs,
  releaseRateAt,
  withCounts,
} from './learn-rate.ts';
import {
  atRaisedRate,
  budget,
  isCounting,
  isLeased,
  leaseMs,
  lineMs,
  parseRateState,
  pruned,
  type RateState,
  rateAt,
  rateItem,
  reopeningRates,
  take,
} from './rate-state.ts';
import {
  endOf,
  type InLine,
  laneOf,
  type Place,
  parseSlot,
  prefixOf,
  type StartLineStore,
} from './start-line.ts';

export type DispatchDeps = {
  /** The table `Breakers`. */
  readonly store: BreakerStore;
  readonly line: StartLineStore;
  /** The starts a second by hand, or of the setting. Undefined: none is set. */
  readonly limit: () => Promise<number | undefined>;
  /** Whether an operator paused starts. */
  readonly isPaused: () => Promise<boolean>;
  /** Answers a callback token with success. A token that nobody waits with any more counts as released. Throws if that is unknown. */
  readonly release: (waiting: InLine) => Promise<void>;
  readonly wait: (milliseconds: number) => Promise<void>;
  readonly now: () => Date;
  /** Milliseconds until the timeout of this invocation. */
  readonly remainingMs: () => number;
  readonly newId: () => string;
  readonly telemetry: Telemetry;
};

/** How an invocation ended. `leased`: another dispatcher releases. */
export type DispatchResult = { readonly end: 'leased' | 'idle' | 'time-is-over'; readonly released: number };

const tickMs = 1_000;

/** A tick may take so much longer than its second. The next one makes up for the starts of that time. */
const lateTickMs = 100;

/** By then a tick has ended, and the lease is given back. */
const reserveMs = 10_000;

/** The schedule invokes once a minute. One invocation finds that the lease ends soon, and waits for its end. */
const handOverMs = 65_000;

/** The line has been empty for so long, as a start that goes in line is in the index a moment later. */
const idleMs = 15_000;

/** How many queries of the index a tick makes. The next tick goes on where they end. */
const maxQueries = 40;
/**
 * So many groups of a lane are seen in one tick; of more, each tick sees the next. No caller has so many banks, unless it names another one in each
 * request. Then its lane must delay no other.
 */
const maxGroups = 200;
/** At a low rate, a query still reads some groups. */
const minPage = 20;
/** Some 800 KB. A query reads 1 MB. */
const maxPage = 600;
/** The highest rate that can be set, in a tick. */
const maxReleases = 200;

/** For so long, the index may still have those that were released. A release may wait for the end of its tick. */
const indexLagMs = 3_000;

/** A turn was released, and its start has not taken it yet. */
const turnTakenMs = 10_000;

/** For how long the breakers of a caller without trouble are trusted. */
const breakerCacheMs = 5_000;

/** Counts of a second are complete once it is so long over. */
const countsLagSeconds = 2;
const maxCountedSeconds = 300;

/** Ticks that failed in a row. The schedule invokes the next dispatcher. */
const maxFailures = 5;

/** A release is not repeated while the index may still show it. */
const rememberedMs = 60_000;

/** A part of the slot. One that cannot be parsed is a part of its own. */
const inSlot =
  (partOf: (place: Place) => string) =>
  ({ slot }: InLine): string => {
    const place = parseSlot(slot);
    return place === undefined ? slot : partOf(place);
  };

const laneIn = inSlot(laneOf);
const prefixIn = inSlot(prefixOf);

/** Every slot of a lane is between the two, and none of another. */
const beginningOf = (lane: string): string => `${lane}#`;
const pastLane = (lane: string): string => `${lane}$`;

/** How many starts may go in a tick. */
const granted = (state: RateState, rate: number | undefined, now: number): number =>
  budget(state, rate, now - lateTickMs, tickMs + lateTickMs);

class Dispatcher {
  readonly #deps: DispatchDeps;
  readonly #holder: string;
  readonly #endsAt: number;
  /** What the index showed, by lane and prefix, in the order of slots. */
  readonly #seen = new Map<string, Map<string, readonly InLine[]>>();
  #cursor = '';
  /** Where the next look goes on in a lane that has more groups than were seen. */
  readonly #goesOn = new Map<string, string>();
  #served: Served = new Map();
  readonly #releasedAt = new Map<string, number>();
  readonly #turnsGivenAt = new Map<string, number>();
  readonly #breakers = new Map<string, { readonly state: BreakerState; readonly at: number }>();
  readonly #underWay = new Set<Promise<void>>();
  #known: Known<RateState> | undefined;
  #lastBusyAt: number;
  released = 0;

  constructor(deps: DispatchDeps) {
    this.#deps = deps;
    this.#holder = deps.newId();
    const now = deps.now().getTime();
    this.#endsAt = now + deps.remainingMs();
    this.#lastBusyAt = now;
  }

  #now(): number {
    return this.#deps.now().getTime();
  }

  async #change(decide: (state: RateState) => RateState): Promise<RateState> {
    const { store, newId, now } = this.#deps;
    const { after } = await changeItem(store, rateItem, decide, {
      parse: parseRateState,
      known: this.#known,
      now,
      newVersion: newId,
    });
    this.#known = after;
    if (after.isDamaged) this.#deps.telemetry.count('RateUnavailable');
    return after.state;
  }

  /** Takes the lease. Waits for one that ends soon, so that no minute is without a dispatcher. */
  async takeLease(): Promise<boolean> {
    const { wait, remainingMs } = this.#deps;
    for (;;) {
      this.#known = undefined;
      const { lease } = await this.#change((state) => this.#leased(state));
      if (lease?.holder === this.#holder) return true;
      const isEnding = lease !== undefined && lease.ends - this.#now() < handOverMs;
      if (!isEnding || remainingMs() < reserveMs) return false;
      await wait(tickMs);
    }
  }

  #leased(state: RateState): RateState {
    const now = this.#now();
    if (isLeased(state, this.#holder, now)) return state;
    return { ...state, lease: { holder: this.#holder, until: now + leaseMs, ends: this.#endsAt } };
  }

  /** For the next dispatcher. If this fails, the lease ends by itself. */
  async giveBack(): Promise<void> {
    try {
      await this.#change((state) => {
        if (state.lease?.holder !== this.#holder) return state;
        const { lease: _, ...rest } = state;
        return rest;
      });
    } catch (error) {
      this.#deps.telemetry.failure('The lease of the dispatcher could not be given back.', error);
    }
  }

  /** Reads the index from group to group, from where the last tick stopped. A group is read as far as it may be released now. */
  async #look(most: number): Promise<void> {
    const page = Math.max(minPage, Math.min(most + 1, maxPage));
    for (let queries = 0; queries < maxQueries; queries += 1) {
      const found = await this.#deps.line.next(this.#cursor, page);
      const last = found.length < page ? undefined : found.at(-1);
      this.#keep(found, last);
      this.#cursor = last === undefined ? '' : this.#after(last, page);
      if (last === undefined) return;
    }
  }

  /** Keeps what was found after the cursor. `last`: the last of it, undefined at the end of the index. */
  #keep(found: readonly InLine[], last: InLine | undefined): void {
    const from = this.#cursor;
    // Of a lane that was read from its beginning, only what is there now.
    for (const lane of this.#seen.keys()) {
      const isRead = last === undefined || lane <= laneIn(last);
      if (isRead && beginningOf(lane) > from) this.#seen.delete(lane);
    }
    for (const [lane, entries] of Map.groupBy(found, laneIn)) {
      const groups = this.#seen.get(lane) ?? new Map<string, readonly InLine[]>();
      for (const [prefix, those] of Map.groupBy(entries, prefixIn)) {
        const before = from.startsWith(prefix) ? (groups.get(prefix) ?? []) : [];
        groups.set(prefix, [...before.filter(({ slot }) => slot <= from), ...those]);
      }
      this.#seen.set(lane, groups);
    }
  }

  /** Where the next query begins. */
  #after(last: InLine, page: number): string {
    const [lane, prefix] = [laneIn(last), prefixIn(last)];
    const groups = this.#seen.get(lane);
    const next = (groups?.get(prefix)?.length ?? 0) >= page ? endOf(prefix) : last.slot;
    if ((groups?.size ?? 0) >= maxGroups) {
      this.#goesOn.set(lane, next);
      return pastLane(lane);
    }
    const goesOn = this.#goesOn.get(lane) ?? next;
    this.#goesOn.delete(lane);
    return goesOn;
  }

  #justReleased(now: number): number {
    return [...this.#releasedAt.values()].filter((at) => now - at < indexLagMs).length;
  }

  /** Who is in the index and was not released by this dispatcher. */
  #waiting(): readonly InLine[] {
    const now = this.#now();
    for (const [token, at] of this.#releasedAt) if (now - at > rememberedMs) this.#releasedAt.delete(token);
    return [...this.#seen.values()]
      .flatMap((groups) => [...groups.values()].flat())
      .filter(({ callbackToken }) => !this.#releasedAt.has(callbackToken));
  }

  #breakerOf(caller: string): BreakerState {
    return this.#breakers.get(caller)?.state ?? { groups: [] };
  }

  /** A breaker that cannot be read holds nothing here. start-task asks it again. */
  async #readBreaker(caller: string): Promise<void> {
    const now = this.#now();
    const cached = this.#breakers.get(caller);
    const isQuiet = cached?.state.groups.length === 0 && cached.state.opened === undefined;
    if (cached !== undefined && isQuiet && now - cached.at < breakerCacheMs) return;
    this.#breakers.delete(caller);
    try {
      const { state } = await readItem(this.#deps.store, caller, parseBreakerState, this.#deps.now());
      this.#breakers.set(caller, { state, at: now });
    } catch (error) {
      this.#deps.telemetry.count('BreakerUnavailable');
      this.#deps.telemetry.failure(
        'The state of a breaker is not available; its starts are released.',
        error,
      );
    }
  }

  async #readBreakers(line: readonly InLine[]): Promise<void> {
    for (const caller of new Set(line.map(({ slot }) => parseSlot(slot)?.caller ?? '')))
      await this.#readBreaker(caller);
  }

  #isTurnGiven(caller: string, group: string, now: number): boolean {
    const turns = turnsOf(this.#breakerOf(caller), group);
    return turns.some((turn) => now - (this.#turnsGivenAt.get(`${caller} ${turn}`) ?? 0) < turnTakenMs);
  }

  /** What else than the rate holds them. The quotas are new ones. */
  #gates(state: RateState, now: number): (entry: InLine) => Gate {
    const quotas = new Map<string, Quota>();
    const quota = (key: string, perSecond: number): Quota => {
      const known = quotas.get(key) ?? { left: Math.floor(perSecond) };
      quotas.set(key, known);
      return known;
    };
    return ({ slot }) => {
      const place = parseSlot(slot);
      if (place === undefined) return [{ left: 0 }];
      const { caller, group } = place;
      const may = mayStart(this.#breakerOf(caller), group, now);
      if (may === 'turn' && !this.#isTurnGiven(caller, group, now)) return 'turn';
      if (may !== 'yes') return [{ left: 0 }];
      return reopeningRates(state, caller, group, now).map(([key, perSecond]) => quota(key, perSecond));
    };
  }

  /** Of turns that groups share, one. */
  #ownTurns(turns: readonly InLine[]): readonly InLine[] {
    const now = this.#now();
    return turns.filter(({ slot }) => {
      const place = parseSlot(slot);
      if (place === undefined || this.#isTurnGiven(place.caller, place.group, now)) return false;
      for (const turn of turnsOf(this.#breakerOf(place.caller), place.group))
        this.#turnsGivenAt.set(`${place.caller} ${turn}`, now);
      return true;
    });
  }

  async #release(waiting: InLine, afterMs: number): Promise<void> {
    const { release, line, wait, telemetry } = this.#deps;
    this.#releasedAt.set(waiting.callbackToken, this.#now());
    try {
      if (afterMs > 0) await wait(afterMs);
      await release(waiting);
      this.released += 1;
      await line.leave(waiting);
    } catch (error) {
      // It is still in the index, and is released again.
      this.#releasedAt.delete(waiting.callbackToken);
      telemetry.failure('A start could not be released; the next tick does it.', error, waiting);
    }
  }

  /** The calls since the last tick, once their seconds are complete. For the first rate, at once. */
  async #count(
    state: RateState,
    limit: number | undefined,
    now: number,
  ): Promise<(before: RateState) => RateState> {
    const isFirst = isMeasuring(state, limit, now);
    if (!isCounting(state, now) || (isFirst && !isMeasured(state, now))) return (before) => before;
    const to = Math.floor(now / 1_000) - (isFirst ? 0 : countsLagSeconds);
    const known = state.window?.countedUntil ?? to - 1;
    const from = Math.max(known, to - maxCountedSeconds) + 1;
    if (from > to) return (before) => before;
    const counts = await this.#deps.line.counts(from, to);
    // Another dispatcher may have counted them.
    return (before) =>
      (before.window?.countedUntil ?? known) === known ? withCounts(before, counts, to, now) : before;
  }

  /** One second: judges what was counted, and releases what the rate allows. */
  async tick(): Promise<'goes-on' | 'idle' | 'leased'> {
    const { limit, isPaused, telemetry } = this.#deps;
    const set = await limit();
    const paused = await isPaused();
    const before = this.#known?.state ?? (await this.#change((state) => state));
    const now = this.#now();
    const counted = await this.#count(before, set, now);
    const most = Math.min(granted(before, rateAt(before, set, now), now), maxReleases);
    await this.#look(most + this.#justReleased(now));
    const waiting = this.#waiting();
    await this.#readBreakers(waiting);

    let chosen: Chosen | undefined;
    let judged: Judged = 'unchanged';
    let rate: number | undefined;
    let firstAt = now;
    const state = await this.#change((current) => {
      chosen = undefined;
      if (isLeased(current, this.#holder, now)) return current;
      const judgement = judgeCalls(counted(current), set, now);
      judged = judgement.judged;
      rate = releaseRateAt(judgement.state, set, now);
      const due = atRaisedRate(judgement.state, rate, now);
      firstAt = due.nextStartAt;
      const most = granted(due, rate, now);
      const gateOf = paused ? () => [{ left: 0 }] : this.#gates(due, now);
      chosen = chooseNext(waiting, Math.min(most, maxReleases), this.#served, gateOf, new Date(now));
      const taken = take(due, rate, now - lateTickMs, chosen.next.length);
      const lineUntil = chosen.left > 0 ? now + lineMs : taken.lineUntil;
      return this.#leased(pruned({ ...taken, lineUntil }, now));
    });
    if (chosen === undefined || state.lease?.holder !== this.#holder) return 'leased';
    this.#report(judged, state, set, now);
    if (waiting.length > 0 || isCounting(state, now)) this.#lastBusyAt = now;
    const { next, turns, served } = chosen;
    this.#served = served;
    const stepMs = rate === undefined || rate === 0 ? 0 : 1_000 / rate;
    const delayOf = (index: number): number =>
      Math.min(Math.max(0, firstAt - now) + index * stepMs, tickMs - 1);
    const releases = [
      ...this.#ownTurns(turns).map((one) => this.#release(one, 0)),
      ...next.map((one, index) => this.#release(one, delayOf(index))),
    ];
    // Not awaited: a call of AWS that hangs must hold no other start.
    for (const release of releases) {
      this.#underWay.add(release);
      void release.then(() => this.#underWay.delete(release));
    }
    const released = next.length + turns.length;
    if (released > 0) telemetry.count('StartsReleased', { value: released });
    return this.#now() - this.#lastBusyAt > idleMs ? 'idle' : 'goes-on';
  }

  /** Resolves once every release has ended. */
  async finish(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  /** Until the next tick. The first rate is not waited for longer than it takes to measure it. */
  pauseMs(startedAt: number): number {
    const now = this.#now();
    const { measuring } = this.#known?.state ?? {};
    const left = startedAt + tickMs - now;
    const measured = measuring === undefined ? Number.POSITIVE_INFINITY : measuring.since + measuringMs - now;
    return Math.max(0, measured > 0 ? Math.min(left, measured) : left);
  }

  /** After a failed tick, nothing is known any more. */
  forget(): void {
    this.#known = undefined;
  }

  #report(judged: Judged, state: RateState, limit: number | undefined, now: number): void {
    if (judged === 'unchanged') return;
    const { telemetry } = this.#deps;
    if (judged === 'undone') telemetry.count('RateCutUndone');
    telemetry.log('The rate of starts changed.', { judged, perSecond: rateAt(state, limit, now) ?? 'any' });
  }
}

/**
 * One invocation of the dispatcher: releases who waits, at the rate, until nobody waits any more or its time is over. Of all
 * dispatchers one at a time does that, under a lease. Throws what the stores throw.
 */
export const dispatchStarts = async (deps: DispatchDeps): Promise<DispatchResult> => {
  const { wait, remainingMs, now } = deps;
  const dispatcher = new Dispatcher(deps);
  const ended = (end: DispatchResult['end']): DispatchResult => ({ end, released: dispatcher.released });
  if (!(await dispatcher.takeLease())) return ended('leased');
  for (let failures = 0; ; ) {
    const startedAt = now().getTime();
    let outcome: Awaited<ReturnType<typeof dispatcher.tick>> = 'goes-on';
    try {
      outcome = await dispatcher.tick();
      failures = 0;
    } catch (error) {
      failures += 1;
      if (failures >= maxFailures) {
        await dispatcher.finish();
        throw error;
      }
      dispatcher.forget();
      deps.telemetry.failure('A tick of the dispatcher failed; the next one goes on.', error);
    }
    if (outcome !== 'goes-on' || remainingMs() < reserveMs) {
      await dispatcher.finish();
      if (outcome !== 'leased') await dispatcher.giveBack();
      return ended(outcome === 'goes-on' ? 'time-is-over' : outcome);
    }
    await wait(dispatcher.pauseMs(startedAt));
  }
};
