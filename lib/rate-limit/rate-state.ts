import * as v from 'valibot';
import type { CallCounts } from './start-line.ts';

/** Starts a second that the provider was found to take. */
export type Learnt = {
  readonly perSecond: number;
  /** When it changed last. From then on it doubles with each `doublesMs`. */
  readonly at: number;
  /** The rate at which the provider last failed by overload. Near it the rate grows slowly, as each failure may be `UNCONFIRMED`. */
  readonly ceiling?: number;
  /** What it accepted a second when a cut ended its refusals: probably what it takes. */
  readonly capacity?: number;
};

/** The calls that are judged together. */
export type Window = CallCounts & {
  readonly since: number;
  /** The seconds of the epoch whose calls are in it: those after the first, up to the other. They lag behind. */
  readonly countedFrom: number;
  readonly countedUntil: number;
};

/** Cuts in a row, or all for overloads until the rate has passed the ceiling. They are undone if as large a share fails as before. */
export type Cuts = {
  readonly count: number;
  /** When the last of them was made. */
  readonly at: number;
  /** The rate before them. Absent: there was none. */
  readonly from?: number;
  /** The calls a second before them, and how many of these calls were accepted. */
  readonly calls: number;
  readonly accepted: number;
  /** The calls since the last of them, below the ceiling. */
  readonly since: { readonly accepted: number; readonly failed: number };
};

/**
 * How fast starts are made, for all processes: one item of the table `Breakers`, replaced by compare-and-set. Times are in
 * milliseconds of the epoch.
 */
export type RateState = {
  /** The next start that finds no line may go then. */
  readonly nextStartAt: number;
  /** The provider asked for no start before, by a 429 with `Retry-After`. */
  readonly notBefore: number;
  /** Until then starts wait for the rate, and new ones wait behind them. Ends by itself if the dispatcher is dead. */
  readonly lineUntil: number;
  readonly learnt?: Learnt;
  /** Calls are counted since then to learn a rate: after a 429, after one that few calls followed, or after an overload. */
  readonly measuring?: { readonly since: number; readonly because: 'refused' | 'few-calls' | 'overloaded' };
  readonly window?: Window;
  readonly cuts?: Cuts;
  /** A share of calls that cuts did not lower: no rate causes these failures. */
  readonly stray?: { readonly share: number; readonly until: number };
  /** Groups (`reopeningKey`) whose breaker was closed by its turn, and when. They are started slowly at first. */
  readonly reopening?: { readonly [group: string]: number };
  /** The dispatcher that releases now. `ends`: when its invocation ends. */
  readonly lease?: { readonly holder: string; readonly until: number; readonly ends: number };
};

export const noRate: RateState = { nextStartAt: 0, notBefore: 0, lineUntil: 0 };

/** The item of the rate in the table `Breakers`. The names of the callers' items are ARNs. */
export const rateItem = 'rate';

/** A clock's difference, and the rounding of a release within a tick. */
export const toleranceMs = 1_000;

/** For how long starts queue behind those that wait. Longer than the dispatcher takes to renew it. */
export const lineMs = 5_000;

/** For how long a dispatcher that was seen last may still release. Clocks may differ by seconds. */
export const leaseMs = 10_000;

/** A rate below one start in 100 s is none. */
export const minPerSecond = 0.01;

/** What was learnt in the morning is four times as high the next morning, so that it is found out again when it was too low. */
const doublesMs = 12 * 3_600_000;

/** By then the rate is 64 times what was learnt. */
const forgottenMs = 6 * doublesMs;

/** Longer than a provider asks for in practice. One wrong header must not stop all starts for a day. */
export const maxRetryAfterMs = 3_600_000;

/** Reopening: one start a second, twice as many after each step. After six steps, 64 a second, it is over. */
const reopeningStepMs = 10_000;
const reopeningMs = 6 * reopeningStepMs;
const maxReopening = 50;

/** By 2^(elapsed / doublesMs). Undefined if nothing is learnt, or it is forgotten. */
const learntAt = ({ learnt }: RateState, now: number): number | undefined => {
  if (learnt === undefined || now - learnt.at >= forgottenMs) return undefined;
  return learnt.perSecond * 2 ** (Math.max(0, now - learnt.at) / doublesMs);
};

/**
 * The starts a second that may be made now. Undefined: any number.
 *
 * @param limit the rate by hand or of the setting, if there is one
 */
export const rateAt = (state: RateState, limit: number | undefined, now: number): number | undefined => {
  const rate = Math.min(limit ?? Infinity, learntAt(state, now) ?? Infinity);
  return Number.isFinite(rate) ? rate : undefined;
};

export const hasLine = ({ lineUntil }: RateState, now: number): boolean => now < lineUntil;

/** Whether calls are counted, so that a rate can be learnt from them. */
export const isCounting = (state: RateState, now: number): boolean =>
  state.measuring !== undefined || hasLine(state, now);

/** How many starts may go now and within the next `aheadMs`. Infinity without a rate. */
export const budget = (
  { nextStartAt, notBefore }: RateState,
  rate: number | undefined,
  now: number,
  aheadMs = toleranceMs,
): number => {
  if (now < notBefore) return 0;
  if (rate === undefined) return Infinity;
  if (rate === 0) return 0;
  const left = now + aheadMs - Math.max(nextStartAt, now);
  return left < 0 ? 0 : Math.floor((left * rate) / 1_000) + 1;
};

/**
 * Two calls come some 120 ms closer together or farther apart than their releases. At a low rate, a provider without a burst would refuse
 * the second for that alone. With 2.5 times as much between them, it refuses one in 160.
 */
const lowRate = 0.1;
const lateMs = 300;

const stepMs = (rate: number): number => 1_000 / rate + (rate <= lowRate ? lateMs : 0);

/** The state after so many starts went. */
export const take = (state: RateState, rate: number | undefined, now: number, starts = 1): RateState =>
  rate === undefined || starts === 0
    ? state
    : { ...state, nextStartAt: Math.max(state.nextStartAt, now) + starts * stepMs(rate) };

/** The state at a rate that may have been raised by hand: its next start does not wait as long as it had to at a lower one. */
export const atRaisedRate = (state: RateState, rate: number | undefined, now: number): RateState => {
  // A tick takes starts of up to a second ahead.
  const latest = rate === undefined ? now : now + toleranceMs + stepMs(rate);
  return state.nextStartAt <= latest ? state : { ...state, nextStartAt: latest };
};

/** New starts queue behind those that wait. Written once in a while only. */
export const withLine = (state: RateState, now: number): RateState =>
  state.lineUntil - now > lineMs / 2 ? state : { ...state, lineUntil: now + lineMs };

/** The name of a group, or of all groups of a caller, whose breaker closes. */
export const reopeningKey = (caller: string, group?: string): string =>
  group === undefined ? caller : `${caller} ${group}`;

const stillReopening = (reopening: RateState['reopening'], now: number) =>
  Object.entries(reopening ?? {}).filter(([, since]) => now - since < reopeningMs);

const withReopening = (state: RateState, entries: readonly (readonly [string, number])[]): RateState => {
  const { reopening: _, ...rest } = state;
  return entries.length === 0 ? rest : { ...rest, reopening: Object.fromEntries(entries) };
};

/** After an accepted start that closed these breakers. */
export const afterReopening = (state: RateState, keys: readonly string[], now: number): RateState => {
  const others = stillReopening(state.reopening, now).filter(([key]) => !keys.includes(key));
  return withReopening(state, [...others, ...keys.map((key) => [key, now] as const)].slice(-maxReopening));
};

/** The starts a second of a group that reopens, alone and together with its caller's others. Empty: it does not. */
export const reopeningRates = (
  { reopening = {} }: RateState,
  caller: string,
  group: string,
  now: number,
): readonly (readonly [key: string, perSecond: number])[] =>
  [reopeningKey(caller), reopeningKey(caller, group)].flatMap((key) => {
    const since = reopening[key];
    if (since === undefined || now - since >= reopeningMs) return [];
    return [[key, 2 ** Math.floor(Math.max(0, now - since) / reopeningStepMs)] as const];
  });

/** Whether another dispatcher releases now. */
export const isLeased = ({ lease }: RateState, holder: string, now: number): boolean =>
  lease !== undefined && lease.holder !== holder && now < lease.until;

/** Forgets what is over. */
export const pruned = (state: RateState, now: number): RateState => {
  if (state.reopening === undefined) return state;
  const left = stillReopening(state.reopening, now);
  return left.length === Object.keys(state.reopening).length ? state : withReopening(state, left);
};

const number = v.pipe(v.number(), v.finite());
const count = v.pipe(number, v.minValue(0));
const positive = v.pipe(number, v.minValue(minPerSecond / 2));

/** What lies further ahead than any function here writes is damaged: it must not hold starts for ever. */
const schemasAt = (now: number) => {
  const near = v.pipe(number, v.maxValue(now + maxRetryAfterMs + 60_000));
  return {
    nextStartAt: near,
    notBefore: near,
    lineUntil: v.pipe(number, v.maxValue(now + 60_000)),
    learnt: v.object({
      perSecond: positive,
      at: near,
      ceiling: v.exactOptional(positive),
      capacity: v.exactOptional(positive),
    }),
    measuring: v.object({ since: near, because: v.picklist(['refused', 'few-calls', 'overloaded']) }),
    window: v.object({
      since: near,
      countedFrom: number,
      countedUntil: number,
      accepted: count,
      refused: count,
      overloaded: count,
      acceptedIn: v.record(v.string(), count),
      overloadedIn: v.array(v.string()),
    }),
    cuts: v.object({
      count,
      at: near,
      from: v.exactOptional(positive),
      calls: count,
      accepted: count,
      since: v.object({ accepted: count, failed: count }),
    }),
    stray: v.object({ share: count, until: near }),
    reopening: v.record(v.string(), near),
    lease: v.object({ holder: v.string(), until: v.pipe(number, v.maxValue(now + 60_000)), ends: number }),
  };
};

/** The rate, part by part. A damaged part counts for nothing: it must hold no start. */
export const parseRateState = (
  stored: unknown,
  now: number,
): { readonly state: RateState; readonly isDamaged: boolean } => {
  if (stored === undefined) return { state: noRate, isDamaged: false };
  const schemas = schemasAt(now);
  const parts = Object(stored) as Record<string, unknown>;
  let isDamaged = false;
  const state: Record<string, unknown> = { ...noRate };
  for (const [name, schema] of Object.entries(schemas)) {
    if (parts[name] === undefined && !(name in noRate)) continue;
    const parsed = v.safeParse(schema as v.GenericSchema, parts[name]);
    if (parsed.success) state[name] = parsed.output;
    else isDamaged = true;
  }
  return { state: state as RateState, isDamaged };
};
