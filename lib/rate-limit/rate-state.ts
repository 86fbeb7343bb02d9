import * as v from 'valibot';

/**
 * What is known of the provider's rate, shared by all processes. It is the item `rate` of the table `Breakers`, and replaced by
 * compare-and-set: once a second by the dispatcher, and seldom by a start. Times are in milliseconds of the epoch.
 */
export type RateState = {
  /** Until this time, starts wait for the rate, and new ones wait behind them. */
  readonly lineUntil: number;
  /** The lease of the dispatcher that releases now. `ends` is when its invocation ends. */
  readonly lease?: { readonly holder: string; readonly until: number; readonly ends: number };
  /** When a start last asked for a dispatcher. */
  readonly wokenAt?: number;
  /** The learnt rate, in starts a second. */
  readonly learnt?: {
    readonly perSecond: number;
    /** How many starts a second the provider accepted in the window before the last cut, and the share of bad calls in it. */
    readonly accepted: number;
    readonly share: number;
    /** When the rate was last cut. */
    readonly at: number;
  };
  /** The second of the epoch from which calls are counted and judged together. */
  readonly windowFrom?: number;
  /** A share of bad calls that a cut did not lower. Until `until`, such a share does not lower the rate. */
  readonly noise?: { readonly share: number; readonly until: number };
  /** The releases a second while there is no rate, and since when. */
  readonly slowStart?: { readonly perSecond: number; readonly at: number };
};

export const noRate: RateState = { lineUntil: 0 };

/** The item of the rate in the table `Breakers`. Items of callers have ARNs as names. */
export const rateItem = 'rate';

/** How long new starts queue behind the waiting ones. It is longer than the dispatcher takes to renew it. */
export const lineMs = 5_000;

/** The length of a lease. It is long, because clocks may differ by seconds. */
export const leaseMs = 10_000;

/** The lowest rate: one start in 100 s. */
export const minPerSecond = 0.01;

/** The highest rate. The dispatcher releases no more in a second. */
export const maxPerSecond = 200;

/** A learnt rate is forgotten a day after its last cut, so that a limit that the provider raised is found. */
const forgottenMs = 24 * 3_600_000;

/** The learnt rate, unless it is forgotten. */
export const learntIn = ({ learnt }: Pick<RateState, 'learnt'>, now: number): RateState['learnt'] =>
  learnt === undefined || now - learnt.at >= forgottenMs ? undefined : learnt;

/**
 * The rate now, in starts a second. Undefined if there is no limit.
 *
 * @param limit the rate set by hand or by the setting, if any
 */
export const rateAt = (
  state: Pick<RateState, 'learnt'>,
  limit: number | undefined,
  now: number,
): number | undefined => {
  const learnt = learntIn(state, now);
  return learnt === undefined ? limit : Math.min(limit ?? Infinity, learnt.perSecond);
};

/** Whether new starts wait behind others. */
export const hasLine = ({ lineUntil }: RateState, now: number): boolean => now < lineUntil;

/** The lease of a dispatcher, from now on. */
export const leaseOf = (
  { holder, endsAt }: { readonly holder: string; readonly endsAt: number },
  now: number,
): NonNullable<RateState['lease']> => ({ holder, until: now + leaseMs, ends: endsAt });

/** Whether a dispatcher has the lease. If it dies, the lease expires, and starts take permits again. */
export const isDispatching = ({ lease }: RateState, now: number): boolean =>
  lease !== undefined && now < lease.until;

export const isLeasedByAnother = (state: RateState, holder: string, now: number): boolean =>
  isDispatching(state, now) && state.lease?.holder !== holder;

/** How far a stored time may lie ahead, with clocks that differ. No function here writes one further ahead. */
const maxAheadMs = 180_000;

const time = v.pipe(v.number(), v.finite());
const positive = v.pipe(time, v.minValue(minPerSecond / 2));
const share = v.pipe(time, v.minValue(0), v.maxValue(1));

/** A time further ahead is damaged, and must not hold starts for ever. */
const schemasAt = (now: number) => {
  const near = v.pipe(time, v.maxValue(now + maxAheadMs));
  return {
    lineUntil: near,
    lease: v.object({ holder: v.string(), until: near, ends: time }),
    wokenAt: near,
    learnt: v.object({ perSecond: positive, accepted: positive, share, at: near }),
    windowFrom: v.pipe(time, v.maxValue((now + maxAheadMs) / 1_000)),
    noise: v.object({ share, until: v.pipe(time, v.maxValue(now + 3_600_000)) }),
    slowStart: v.object({ perSecond: positive, at: near }),
  };
};

/** Parses the item part by part. A damaged part is ignored, because it must not hold a start. */
export const parseRateState = (
  stored: unknown,
  now: number,
): { readonly state: RateState; readonly isDamaged: boolean } => {
  if (stored === undefined) return { state: noRate, isDamaged: false };
  const parts = Object(stored) as Record<string, unknown>;
  const state: Record<string, unknown> = { ...noRate };
  let isDamaged = false;
  for (const [name, schema] of Object.entries(schemasAt(now))) {
    if (parts[name] === undefined && !(name in noRate)) continue;
    const parsed = v.safeParse(schema as v.GenericSchema, parts[name]);
    if (parsed.success) state[name] = parsed.output;
    else isDamaged = true;
  }
  return { state: state as RateState, isDamaged };
};
