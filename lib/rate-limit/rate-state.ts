import * as v from 'valibot';

/**
 * What is known of the provider's rate, for all processes: the item `rate` of the table `Breakers`, replaced by compare-and-set once a
 * second by the dispatcher, and seldom by a start. Times are in milliseconds of the epoch.
 */
export type RateState = {
  /** Until then the dispatcher has starts that wait for the rate, and new ones wait behind them. */
  readonly lineUntil: number;
  /** The dispatcher that releases now. `ends`: when its invocation ends. */
  readonly lease?: { readonly holder: string; readonly until: number; readonly ends: number };
  /** A start asked for a dispatcher. */
  readonly wokenAt?: number;
  /** The starts a second that the provider was found to take. */
  readonly learnt?: {
    readonly perSecond: number;
    /** What it accepted a second in the window that was cut last, and which share of the calls was bad there. */
    readonly good: number;
    readonly share: number;
    /** When it was cut last. */
    readonly at: number;
  };
  /** Calls are counted, and judged together from this second of the epoch on. */
  readonly windowFrom?: number;
  /** A share that a cut did not lower. Until then it shows nothing of the rate. */
  readonly deaf?: { readonly share: number; readonly until: number };
  /** Without a rate: the starts a second at which those that wait are released, and since when. */
  readonly slowStart?: { readonly perSecond: number; readonly at: number };
};

export const noRate: RateState = { lineUntil: 0 };

/** The item of the rate in the table `Breakers`. The names of the callers' items are ARNs. */
export const rateItem = 'rate';

/** For how long starts queue behind those that wait. Longer than the dispatcher takes to renew it. */
export const lineMs = 5_000;

/** For how long a dispatcher that was seen last may still release. Clocks may differ by seconds. */
export const leaseMs = 10_000;

/** A rate below one start in 100 s is none. */
export const minPerSecond = 0.01;

/** The dispatcher releases no more in a second, so that a higher rate is none. */
export const maxPerSecond = 200;

/** What was learnt is forgotten a day after its last cut, so that a limit that was raised is found. */
const forgottenMs = 24 * 3_600_000;

/**
 * The starts a second that may be made now. Undefined: any number.
 *
 * @param limit the rate by hand or of the setting, if there is one
 */
export const rateAt = (
  { learnt }: Pick<RateState, 'learnt'>,
  limit: number | undefined,
  now: number,
): number | undefined => {
  if (learnt === undefined || now - learnt.at >= forgottenMs) return limit;
  return Math.min(limit ?? Infinity, learnt.perSecond);
};

/** Whether starts wait for the rate, so that new ones wait behind them. */
export const hasLine = ({ lineUntil }: RateState, now: number): boolean => now < lineUntil;

/** Whether a dispatcher releases now. If it is dead, and nobody renews its lease, starts go by the permit again. */
export const isDispatching = ({ lease }: RateState, now: number): boolean =>
  lease !== undefined && now < lease.until;

/** Whether another dispatcher releases now. */
export const isLeased = (state: RateState, holder: string, now: number): boolean =>
  isDispatching(state, now) && state.lease?.holder !== holder;

/** Clocks, and what lies ahead of all that is written here, as milliseconds. */
const maxAheadMs = 180_000;

const time = v.pipe(v.number(), v.finite());
const positive = v.pipe(time, v.minValue(minPerSecond / 2));
const share = v.pipe(time, v.minValue(0), v.maxValue(1));

/** What lies further ahead than any function here writes is damaged: it must not hold starts for ever. */
const schemasAt = (now: number) => {
  const near = v.pipe(time, v.maxValue(now + maxAheadMs));
  return {
    lineUntil: near,
    lease: v.object({ holder: v.string(), until: near, ends: time }),
    wokenAt: near,
    learnt: v.object({ perSecond: positive, good: positive, share, at: near }),
    windowFrom: v.pipe(time, v.maxValue((now + maxAheadMs) / 1_000)),
    deaf: v.object({ share, until: v.pipe(time, v.maxValue(now + 3_600_000)) }),
    slowStart: v.object({ perSecond: positive, at: near }),
  };
};

/** The rate, part by part. A damaged part counts for nothing: it must hold no start. */
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
