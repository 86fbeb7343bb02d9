import type { BreakerSettings } from '../../../lib/breaker/breaker-state.ts';
import type { Random } from '../../support/random.ts';

/** How the provider answers while it is in trouble. */
export type Trouble = 'refuses' | 'answers 503' | 'hangs' | 'slow' | 'flaps' | 'fails one call in fifty';

/** One world: how many extractions are requested, and what is wrong meanwhile. Times in seconds from the start. */
export type Outage = {
  readonly trouble: Trouble;
  readonly from: number;
  readonly to: number;
  readonly extractions: number;
  readonly requestedUntil: number;
  /** How many of them are requested at the same time, by as many processes. */
  readonly together: number;
  /** Whether logins are in trouble, too. */
  readonly loginsFail: boolean;
  /** One start in so many is refused with a 400, which says nothing about the provider. */
  readonly refusedOneIn: number;
  /** One call of a table in so many loses its answer, or its process. */
  readonly lossOneIn: number;
};

/** The defaults of infra/config.ts, which the unit test of the settings page shows. */
export const breakerSettings: BreakerSettings = {
  failures: 5,
  windowSeconds: 30,
  openSeconds: 30,
  maxOpenSeconds: 300,
  probeSeconds: 130,
};

export const machineTimings = {
  webhookWaitSeconds: 600,
  startWindowSeconds: 900,
  startTimeoutSeconds: 90,
  deadlineSeconds: 7_200,
  machineSlackSeconds: 900,
  pollFirstSeconds: 5,
  pollEverySeconds: 120,
  pollBackoff: 2,
  startRetryFirstSeconds: 2,
  startRetryEverySeconds: 60,
} as const;

/** In seconds. A call that hangs ends after it. */
export const providerTimeout = 20;

export const troubles: readonly Trouble[] = [
  'refuses',
  'answers 503',
  'hangs',
  'slow',
  'flaps',
  'fails one call in fifty',
];

/** A random outage. */
export const drawOutage = (random: Random): Outage => {
  const from = 20 + random.below(20);
  const to = from + random.pick([60, 120, 300]);
  return {
    trouble: random.pick(troubles),
    from,
    to,
    extractions: random.pick([40, 80]),
    // Requests go on after the outage, so that there is always somebody to probe.
    requestedUntil: to + 60,
    together: random.pick([1, 10]),
    loginsFail: random.below(3) === 0,
    refusedOneIn: random.pick([4, 1_000]),
    lossOneIn: random.pick([1_000_000, 1_000_000, 100, 30]),
  };
};
