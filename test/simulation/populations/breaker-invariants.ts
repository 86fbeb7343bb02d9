import { type BreakerName, breakerNames } from '../../../lib/breaker/breaker-state.ts';
import type { Invariant } from './invariants.ts';
import type { ProviderCall } from './provider.ts';
import type { BreakerChange, Service } from './service.ts';
import { breakerSettings } from './settings.ts';

/** For how long after a change a process may act on what it knew before: its cache, a stale read, a slow table. */
const staleMs = 5_000 + 1_000 + 500;

/** From the end of a call to the write that counts it, over all lost races. */
const writeMs = 1_500;

const {
  failures: threshold,
  openSeconds,
  maxOpenSeconds,
  slowCallSeconds,
  probeSeconds,
} = breakerSettings.starts;

const probeIdOf = (change: Pick<BreakerChange, 'after'>): string | undefined =>
  change.after.opened?.probe?.id;

const isOpening = ({ before, after }: BreakerChange): boolean =>
  before.opened === undefined && after.opened !== undefined;
const isClosing = ({ before, after }: BreakerChange): boolean =>
  before.opened !== undefined && after.opened === undefined;
const isElection = (change: BreakerChange): boolean =>
  probeIdOf(change) !== undefined && probeIdOf(change) !== change.before.opened?.probe?.id;

/** A probe: who was elected, when, and until when no other was. */
type Probe = { readonly process: string; readonly from: number; readonly to: number };

const changesOf = ({ changes }: Service, of: BreakerName): readonly BreakerChange[] =>
  changes.filter(({ name }) => name === of);

const probesOf = (service: Service, of: BreakerName = 'starts'): readonly Probe[] =>
  changesOf(service, of).flatMap((change, index, changes) => {
    if (!isElection(change)) return [];
    const next = changes.slice(index + 1).find((later) => probeIdOf(later) !== probeIdOf(change));
    const [process = ''] = (probeIdOf(change) ?? '').split('/');
    return [{ process, from: change.at, to: next?.at ?? service.time.now }];
  });

/** When a breaker was open, from each opening to its closing. */
const openPeriodsOf = (
  service: Service,
  of: BreakerName = 'starts',
): readonly { readonly from: number; readonly to: number }[] =>
  changesOf(service, of).flatMap((change, index, changes) =>
    isOpening(change)
      ? [{ from: change.at, to: changes.slice(index + 1).find(isClosing)?.at ?? service.time.now }]
      : [],
  );

const functionOf = { starts: 'start-task', reads: 'reconcile' } as const;

/** The calls of the processes that a breaker holds. */
const callsOf = ({ provider }: Service, of: BreakerName = 'starts'): readonly ProviderCall[] =>
  provider.calls.filter(({ process }) => process.startsWith(functionOf[of]));

const isOfProbe = ({ process, at }: ProviderCall, probes: readonly Probe[]): boolean =>
  probes.some((probe) => probe.process === process && at >= probe.from && at <= probe.to);

/** When calls failed that count for starts. A login counts in every function. */
const troublesOf = ({ provider }: Service): readonly number[] =>
  provider.calls
    .flatMap(({ kind, process, result, endedAt }) =>
      result === 'trouble' &&
      endedAt !== undefined &&
      (kind === 'login' || process.startsWith(functionOf.starts))
        ? [endedAt]
        : [],
    )
    .toSorted((one, other) => one - other);

const within = (times: readonly number[], from: number, to: number): number =>
  times.filter((at) => at > from && at <= to).length;

/** Whether a call follows another of the same invocation, such as a start after its login. It was admitted before that one. */
const continues = ({ process, of, at }: ProviderCall, calls: readonly ProviderCall[]): boolean =>
  calls.some(
    (call) =>
      call.process === process &&
      call.of === of &&
      call.endedAt !== undefined &&
      at - call.endedAt < 500 &&
      at >= call.endedAt,
  );

const heldCallsNotMade: Invariant = {
  name: 'held-calls-not-made',
  rule: 'While the breaker is open, only the elected probe calls the provider, except for processes that read the state up to 5 s before.',
  check: (service) => {
    for (const name of breakerNames) {
      const probes = probesOf(service, name);
      const periods = openPeriodsOf(service, name);
      const calls = callsOf(service, name);
      const made = calls.filter(
        (call) =>
          !isOfProbe(call, probes) &&
          periods.some(({ from, to }) => call.at > from + staleMs && call.at < to) &&
          !continues(call, calls),
      );
      // A process that cannot write its election makes its call.
      if (made.length > service.losses)
        return `${made[0]?.process} makes a ${made[0]?.kind} call at an open breaker.`;
    }
    return undefined;
  },
};

/** When start calls succeeded. */
const successesOf = ({ provider }: Service): readonly number[] =>
  provider.calls.flatMap(({ kind, result, endedAt = 0 }) =>
    kind === 'start' && result === 'success' ? [endedAt] : [],
  );

/** When start calls began to count as too slow. */
const slowOnesOf = ({ provider, time }: Service): readonly number[] =>
  provider.calls.flatMap(({ kind, at, endedAt = time.now }) =>
    kind === 'start' && endedAt - at > slowCallSeconds * 1_000 ? [at + slowCallSeconds * 1_000] : [],
  );

const opensInTime: Invariant = {
  name: 'opens-in-time',
  rule: 'The breaker is open as soon as start calls of the threshold of extractions have failed without a success in between, in whichever processes.',
  check: (service) => {
    const troubles = service.provider.calls.flatMap(({ kind, result, of, at, endedAt = 0 }) => {
      if (kind !== 'start' || result !== 'trouble') return [];
      return [{ of, at: Math.min(endedAt, at + slowCallSeconds * 1_000) }];
    });
    const successes = successesOf(service);
    const periods = openPeriodsOf(service);
    const late = troubles.find(({ at }) => {
      const closedAt = periods.findLast(({ to }) => to <= at)?.to ?? 0;
      const since = Math.max(closedAt, ...successes.filter((success) => success <= at + writeMs));
      const failing = new Set(troubles.filter((one) => one.at > since && one.at <= at).map(({ of }) => of));
      const known = new Set(troubles.filter((one) => one.at <= since).map(({ of }) => of));
      const counted = [...failing].filter((of) => !known.has(of)).length;
      const isEnough = counted >= threshold + service.losses;
      return isEnough && !periods.some(({ from, to }) => from <= at + writeMs && to >= at);
    });
    return late === undefined ? undefined : 'The breaker is not open although enough calls have failed.';
  },
};

const opensForAReason: Invariant = {
  name: 'opens-for-a-reason',
  rule: 'The breaker opens only if the threshold of calls failed or were too slow, and never if one call in ten fails, one after the other.',
  check: (service) => {
    const bad = [...troublesOf(service), ...slowOnesOf(service)];
    const periods = openPeriodsOf(service);
    const { members, outages } = service.population;
    const isRareTrouble =
      outages.some(({ trouble }) => trouble === 'fails one call in ten') && members[0]?.at !== members[1]?.at;
    const groundless = changesOf(service, 'starts').find((change) => {
      const closedAt = periods.findLast(({ to }) => to <= change.at)?.to ?? 0;
      const isEnough = within(bad, closedAt - writeMs, change.at) >= threshold && !isRareTrouble;
      return isOpening(change) && !isEnough;
    });
    return groundless === undefined ? undefined : 'The breaker opens although few calls have failed.';
  },
};

const oneProbe: Invariant = {
  name: 'one-probe',
  rule: 'A probe logs in successfully, and then makes one start call at most. Start calls of two probes never overlap.',
  check: (service) => {
    const callsIn = ({ process, from, to }: Probe) =>
      callsOf(service).filter((call) => call.process === process && call.at >= from && call.at <= to);
    for (const probe of probesOf(service)) {
      const starts = callsIn(probe).filter(({ kind }) => kind === 'start');
      if (starts.length > 1) return `${probe.process} makes ${starts.length} start calls as the probe.`;
      const isLoggedIn = callsIn(probe).some(({ kind, result }) => kind === 'login' && result === 'success');
      // A process whose election was written, but not answered, makes its call without being a probe.
      if (starts.length > 0 && !isLoggedIn && service.losses === 0)
        return `${probe.process} does not log in first.`;
    }
    return undefined;
  },
};

const pausesDouble: Invariant = {
  name: 'pauses-double',
  rule: 'The first pause of a group and the one after its first failed probe are equal. Each later start call of a probe for another of its extractions that fails doubles it, up to the longest. Everybody else waits for the first.',
  check: (service) => {
    const wrong = changesOf(service, 'starts').find(({ at, before, after }) => {
      const { opened } = after;
      if (opened === undefined || opened.until === before.opened?.until) return false;
      const known = before.opened?.groups ?? {};
      const [group = ''] = Object.keys(opened.groups).filter(
        (name) => JSON.stringify(opened.groups[name]) !== JSON.stringify(known[name]),
      );
      const { seconds = openSeconds, failedProbe } = known[group] ?? {};
      const electedAt = (before.opened?.probe?.until ?? 0) - probeSeconds * 1_000;
      const hasStarted = service.provider.calls.some(
        (call) =>
          call.kind === 'start' &&
          probeIdOf({ after: before })?.startsWith(`${call.process}/`) &&
          call.at >= electedAt &&
          call.at <= at,
      );
      const doubles =
        hasStarted && failedProbe !== undefined && failedProbe !== opened.groups[group]?.failedProbe;
      const expected = Math.min(doubles ? 2 * seconds : seconds, maxOpenSeconds);
      return opened.groups[group]?.seconds !== expected || opened.until > at + openSeconds * 1_000;
    });
    return wrong === undefined ? undefined : 'A pause has the wrong length.';
  },
};

const closedByAStart: Invariant = {
  name: 'closed-by-a-start',
  rule: 'The breaker closes only after a start call of the elected probe succeeded, or one that had counted as too slow.',
  check: (service) => {
    const probes = probesOf(service);
    const groundless = changesOf(service, 'starts')
      .filter(isClosing)
      .find(({ at }) => {
        const probe = probes.findLast(({ from }) => from <= at);
        return !service.provider.calls.some(
          ({ kind, process, result, at: madeAt, endedAt = Number.POSITIVE_INFINITY }) =>
            kind === 'start' &&
            result === 'success' &&
            endedAt <= at &&
            ((process === probe?.process && madeAt >= probe.from) ||
              (endedAt - madeAt > slowCallSeconds * 1_000 && endedAt > at - writeMs)),
        );
      });
    return groundless === undefined ? undefined : 'The breaker closes, but no probe has started a task.';
  },
};

const slowSuccessCloses: Invariant = {
  name: 'slow-success-closes',
  rule: 'The breaker does not stay open after the success of a start call that had counted as too slow.',
  check: (service) => {
    // A process that ends, or cannot write, leaves the breaker to its probe.
    if (service.losses > 0) return undefined;
    const late = callsOf(service).find(
      ({ kind, result, at, endedAt = 0 }) =>
        kind === 'start' &&
        result === 'success' &&
        endedAt - at > slowCallSeconds * 1_000 + writeMs &&
        openPeriodsOf(service).some(({ from, to }) => from < endedAt - writeMs && to > endedAt + writeMs),
    );
    return late === undefined ? undefined : `The start of ${late.of} succeeded, and the breaker stays open.`;
  },
};

/** How many start calls were under way when the breaker opened, those included whose process had an older state. */
export const underWay = (service: Service): number => {
  const probes = probesOf(service);
  const periods = openPeriodsOf(service);
  return service.provider.calls.filter(
    (call) =>
      call.kind === 'start' &&
      !isOfProbe(call, probes) &&
      periods.some(
        ({ from }) =>
          (call.endedAt ?? Number.POSITIVE_INFINITY) >= from - writeMs && call.at <= from + staleMs,
      ),
  ).length;
};

export const countsOf = (service: Service) => ({
  unconfirmed: [...service.extractions.values()].filter(({ status }) => status === 'UNCONFIRMED').length,
  openings: changesOf(service, 'starts').filter(isOpening).length,
  underWay: underWay(service),
  probes: probesOf(service).length,
});

const unconfirmedBounded: Invariant = {
  name: 'unconfirmed-bounded',
  rule: 'UNCONFIRMED in an outage in which no call succeeds is at most the threshold, plus the calls under way when the breaker opened, plus one per probe.',
  check: (service) => {
    // Failures that are both rare and between successes open nothing.
    const isPartial = service.population.outages.some(({ trouble }) =>
      ['fails one call in ten', 'flaps'].includes(trouble),
    );
    if (isPartial) return undefined;
    const { unconfirmed, openings, underWay: calls, probes } = countsOf(service);
    const most = threshold * (openings + 1) + calls + probes + service.losses;
    return unconfirmed <= most ? undefined : `${unconfirmed} are UNCONFIRMED, more than ${most}.`;
  },
};

const recovers: Invariant = {
  name: 'recovers',
  rule: 'After the outage, everything starts that is still within its start window.',
  check: (service) => {
    // The last request was made a minute after the outage, and has 15 minutes for the longest pause and one dead probe.
    const held = [...service.extractions.values()].filter(({ status }) => status === 'NOT_STARTED');
    const deadProbes = probesOf(service).filter(({ from, to }) => to - from >= probeSeconds * 1_000);
    return held.length === 0 || deadProbes.length > 1
      ? undefined
      : `${held.length} extractions never started.`;
  },
};

/** Every invariant of an outage. A finding names the first that is broken, so the more exact ones come first. */
export const breakerInvariants: readonly Invariant[] = [
  oneProbe,
  heldCallsNotMade,
  opensForAReason,
  unconfirmedBounded,
  closedByAStart,
  opensInTime,
  pausesDouble,
  slowSuccessCloses,
  recovers,
];
