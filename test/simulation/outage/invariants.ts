import type { BreakerChange, Fleet } from './fleet.ts';
import { breakerSettings } from './outage.ts';
import type { ProviderCall } from './provider.ts';

/** Checks a world after its end. Returns what is wrong, or undefined. */
export type OutageInvariant = {
  readonly name: string;
  readonly rule: string;
  readonly check: (fleet: Fleet) => string | undefined;
};

/** For how long after a change a process may act on what it knew before: its cache, a stale read, a slow table. */
const staleMs = 5_000 + 1_000 + 500;

/** From the end of a call to the write that counts it, over all lost races. */
const writeMs = 1_500;

const { failures: threshold, windowSeconds, openSeconds, maxOpenSeconds } = breakerSettings;

const probeIdOf = (change: BreakerChange): string | undefined => change.after.opened?.probe?.id;

const isOpening = ({ before, after }: BreakerChange): boolean =>
  before.opened === undefined && after.opened !== undefined;
const isClosing = ({ before, after }: BreakerChange): boolean =>
  before.opened !== undefined && after.opened === undefined;
const isElection = (change: BreakerChange): boolean =>
  probeIdOf(change) !== undefined && probeIdOf(change) !== change.before.opened?.probe?.id;

/** A probe: who was elected, when, and until when no other was. */
type Probe = { readonly process: string; readonly from: number; readonly to: number };

const probesOf = ({ changes, time }: Fleet): readonly Probe[] =>
  changes.flatMap((change, index) => {
    if (!isElection(change)) return [];
    const to = changes.slice(index + 1).find((next) => probeIdOf(next) !== probeIdOf(change))?.at ?? time.now;
    return [{ process: (probeIdOf(change) ?? '').split('/')[0] ?? '', from: change.at, to }];
  });

/** When the breaker was open, from each opening to its closing. */
const openPeriodsOf = ({ changes, time }: Fleet): readonly { readonly from: number; readonly to: number }[] =>
  changes.flatMap((change, index) =>
    isOpening(change)
      ? [{ from: change.at, to: changes.slice(index + 1).find(isClosing)?.at ?? time.now }]
      : [],
  );

const isOfProbe = ({ process, at }: ProviderCall, probes: readonly Probe[]): boolean =>
  probes.some((probe) => probe.process === process && at >= probe.from && at <= probe.to);

const troublesOf = ({ provider }: Fleet): readonly number[] =>
  provider.calls
    .flatMap(({ result, endedAt }) => (result === 'trouble' && endedAt !== undefined ? [endedAt] : []))
    .toSorted((one, other) => one - other);

const within = (times: readonly number[], from: number, to: number): number =>
  times.filter((at) => at > from && at <= to).length;

const heldCallsNotMade: OutageInvariant = {
  name: 'held-calls-not-made',
  rule: 'While the breaker is open, only the elected probe calls the provider, except for processes that read the state up to 5 s before.',
  check: (fleet) => {
    const probes = probesOf(fleet);
    const made = fleet.provider.calls.filter(
      (call) =>
        !isOfProbe(call, probes) &&
        openPeriodsOf(fleet).some(({ from, to }) => call.at > from + staleMs && call.at < to),
    );
    // A process that cannot write its election makes its call.
    if (made.length <= fleet.losses) return undefined;
    return `${made[0]?.process} makes a ${made[0]?.kind} call at an open breaker.`;
  },
};

const opensInTime: OutageInvariant = {
  name: 'opens-in-time',
  rule: 'The breaker is open as soon as the threshold of failures within the window is counted, by whichever processes.',
  check: (fleet) => {
    const troubles = troublesOf(fleet);
    const periods = openPeriodsOf(fleet);
    const late = troubles.find((at) => {
      const closedAt = periods.findLast(({ to }) => to <= at)?.to ?? 0;
      const since = Math.max(closedAt, at - windowSeconds * 1_000);
      const isEnough = within(troubles, since, at) >= threshold + fleet.losses;
      return isEnough && !periods.some(({ from, to }) => from <= at + writeMs && to >= at);
    });
    return late === undefined ? undefined : 'The breaker is not open although enough calls have failed.';
  },
};

const opensForAReason: OutageInvariant = {
  name: 'opens-for-a-reason',
  rule: 'The breaker opens only if the threshold of calls has failed, within the window or without a success in between.',
  check: (fleet) => {
    const troubles = troublesOf(fleet);
    const successes = fleet.provider.calls.flatMap(({ kind, result, endedAt = 0 }) =>
      kind === 'start' && result === 'success' ? [endedAt] : [],
    );
    const groundless = fleet.changes.find((change) => {
      const lastSuccess = Math.max(0, ...successes.filter((at) => at <= change.at - writeMs));
      const inWindow = change.at - windowSeconds * 1_000 - writeMs;
      return isOpening(change) && within(troubles, Math.min(lastSuccess, inWindow), change.at) < threshold;
    });
    return groundless === undefined ? undefined : 'The breaker opens although few calls have failed.';
  },
};

const oneProbe: OutageInvariant = {
  name: 'one-probe',
  rule: 'A probe logs in successfully, and then makes one start call at most. Start calls of two probes never overlap.',
  check: (fleet) => {
    const callsOf = ({ process, from, to }: Probe) =>
      fleet.provider.calls.filter((call) => call.process === process && call.at >= from && call.at <= to);
    for (const probe of probesOf(fleet)) {
      const starts = callsOf(probe).filter(({ kind }) => kind === 'start');
      if (starts.length > 1) return `${probe.process} makes ${starts.length} start calls as the probe.`;
      const isLoggedIn = callsOf(probe).some(({ kind, result }) => kind === 'login' && result === 'success');
      // A process whose election was written, but not answered, makes its call without being a probe.
      if (starts.length > 0 && !isLoggedIn && fleet.losses === 0)
        return `${probe.process} does not log in first.`;
    }
    return undefined;
  },
};

const pausesDouble: OutageInvariant = {
  name: 'pauses-double',
  rule: 'The pause after a failed probe is twice the one before, up to the longest.',
  check: ({ changes }) => {
    const wrong = changes.find(({ before, after }) => {
      if (before.opened?.probe === undefined || after.opened === undefined) return false;
      if (after.opened.until === before.opened.until) return false;
      return after.opened.seconds !== Math.min(2 * before.opened.seconds, maxOpenSeconds);
    });
    const first = changes.find((change) => isOpening(change) && change.after.opened?.seconds !== openSeconds);
    return wrong === undefined && first === undefined ? undefined : 'A pause has the wrong length.';
  },
};

const closedByAStart: OutageInvariant = {
  name: 'closed-by-a-start',
  rule: 'The breaker closes only after a start call of the elected probe succeeded.',
  check: (fleet) => {
    const probes = probesOf(fleet);
    const groundless = fleet.changes.filter(isClosing).find(({ at }) => {
      const probe = probes.findLast(({ from }) => from <= at);
      return !fleet.provider.calls.some(
        ({ kind, process, result, at: madeAt, endedAt = Number.POSITIVE_INFINITY }) =>
          kind === 'start' &&
          result === 'success' &&
          process === probe?.process &&
          madeAt >= probe.from &&
          endedAt <= at,
      );
    });
    return groundless === undefined ? undefined : 'The breaker closes, but no probe has started a task.';
  },
};

/** How many start calls were under way when the breaker opened, those included whose process had an older state. */
export const underWay = (fleet: Fleet): number => {
  const probes = probesOf(fleet);
  const periods = openPeriodsOf(fleet);
  return fleet.provider.calls.filter(
    (call) =>
      call.kind === 'start' &&
      !isOfProbe(call, probes) &&
      periods.some(
        ({ from }) =>
          (call.endedAt ?? Number.POSITIVE_INFINITY) >= from - writeMs && call.at <= from + staleMs,
      ),
  ).length;
};

export const countsOf = (fleet: Fleet) => ({
  unconfirmed: [...fleet.extractions.values()].filter(({ status }) => status === 'UNCONFIRMED').length,
  openings: fleet.changes.filter(isOpening).length,
  underWay: underWay(fleet),
  probes: probesOf(fleet).length,
});

const unconfirmedBounded: OutageInvariant = {
  name: 'unconfirmed-bounded',
  rule: 'UNCONFIRMED in an outage in which no call succeeds is at most the threshold, plus the calls under way when the breaker opened, plus one per probe.',
  check: (fleet) => {
    // Failures that are both rare and between successes open nothing.
    if (['fails one call in fifty', 'flaps'].includes(fleet.outage.trouble)) return undefined;
    const { unconfirmed, openings, underWay: calls, probes } = countsOf(fleet);
    const most = threshold * (openings + 1) + calls + probes + fleet.losses;
    return unconfirmed <= most ? undefined : `${unconfirmed} are UNCONFIRMED, more than ${most}.`;
  },
};

const recovers: OutageInvariant = {
  name: 'recovers',
  rule: 'After the outage, everything starts that is still within its start window.',
  check: (fleet) => {
    const waiting = [...fleet.extractions.values()].filter(({ status }) => status === 'REQUESTED');
    // The last request was made a minute after the outage, and has 15 minutes for the longest pause and a dead probe.
    return waiting.length === 0 ? undefined : `${waiting.length} extractions never started.`;
  },
};

/** Every invariant of an outage. A finding names the first that is broken, so the more exact ones come first. */
export const outageInvariants: readonly OutageInvariant[] = [
  oneProbe,
  heldCallsNotMade,
  opensForAReason,
  opensInTime,
  pausesDouble,
  closedByAStart,
  recovers,
  unconfirmedBounded,
];
