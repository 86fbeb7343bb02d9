import { marshall } from '@aws-sdk/util-dynamodb';
import type { BreakerState } from '#lib/breaker/breaker-state.ts';
import { writeUnits } from '../../bench/units/capacity.ts';
import type { Item } from '../../bench/units/item-bytes.ts';
import { groupOf } from './draw-population.ts';
import type { Invariant } from './invariants.ts';
import type { ProviderCall } from './provider.ts';
import type { Service } from './service.ts';
import { breakerSettings, settings } from './settings.ts';

/** For how long after a change a process may act on what it knew before: its cache, a stale read, a slow table. */
const staleMs = 5_000 + 1_000 + 500;

/** From the end of a call to the write that counts it, over all lost races. */
const writeMs = 1_500;

/** A slow start does not count if another of its group was accepted within this time before. */
const slowSinceMs = 3_000;

const { failures: threshold } = breakerSettings;
const slowMs = settings.breakerSlowCallSeconds * 1_000;

/** One breaker: of a group, or of a caller over its groups. */
type Breaker = { readonly caller: string; readonly group?: string };

const nameOf = ({ caller, group }: Breaker): string => `${caller} ${group ?? '*'}`;

const openedIn = (state: BreakerState, { group }: Breaker) =>
  group === undefined ? state.opened : state.groups.find(({ name }) => name === group)?.opened;

const turnsIn = (state: BreakerState) => [
  ...(state.opened === undefined ? [] : [state.opened.failing, state.opened.others]),
  ...state.groups.flatMap(({ opened }) => (opened === undefined ? [] : [opened.turn])),
];

const breakersOf = ({ changes }: Service): readonly Breaker[] => {
  const found = new Map<string, Breaker>();
  for (const { caller, after } of changes) {
    for (const breaker of [{ caller }, ...after.groups.map(({ name }) => ({ caller, group: name }))]) {
      found.set(nameOf(breaker), breaker);
    }
  }
  return [...found.values()];
};

type Period = { readonly from: number; to: number };

/** When a breaker was open, from each opening to its closing. */
const periodsOf = (service: Service, breaker: Breaker): readonly Readonly<Period>[] => {
  const periods: Period[] = [];
  let open: Period | undefined;
  for (const change of service.changes) {
    if (change.caller !== breaker.caller) continue;
    const isOpen = openedIn(change.after, breaker) !== undefined;
    if (isOpen && open === undefined) {
      open = { from: change.at, to: service.time.now };
      periods.push(open);
    }
    if (!isOpen && open !== undefined) open.to = change.at;
    if (!isOpen) open = undefined;
  }
  return periods;
};

const breakersFor = (service: Service, of: string): readonly Breaker[] => {
  const member = service.memberOf(of);
  return [{ caller: member.caller }, { caller: member.caller, group: groupOf(member) }];
};

/** The state of a caller's breakers just before a moment. */
const stateBefore = ({ changes }: Service, caller: string, at: number): BreakerState =>
  changes.findLast((change) => change.caller === caller && change.at <= at)?.after ?? { groups: [] };

/** Whether the process held a turn when it made this call. */
const isInTurn = (service: Service, { process, of, at }: ProviderCall): boolean =>
  turnsIn(stateBefore(service, service.memberOf(of).caller, at)).some(
    ({ holder }) => holder?.startsWith(`${process}/`) === true,
  );

const startCallsOf = ({ provider }: Service): readonly ProviderCall[] =>
  provider.calls.filter(({ kind }) => kind === 'start');

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
  rule: 'While a breaker is open, only who has its turn calls the provider, except for processes that read the state up to 5 s before.',
  check: (service) => {
    const periods = new Map(breakersOf(service).map((one) => [nameOf(one), periodsOf(service, one)]));
    const calls = service.provider.calls.filter(({ process }) => process.startsWith('start-task'));
    const made = calls.filter(
      (call) =>
        breakersFor(service, call.of).some((breaker) =>
          periods.get(nameOf(breaker))?.some(({ from, to }) => call.at > from + staleMs && call.at < to),
        ) &&
        !isInTurn(service, call) &&
        !continues(call, calls),
    );
    // A process that cannot write that it takes a turn makes its call.
    return made.length > service.losses
      ? `${made[0]?.process} makes a ${made[0]?.kind} call at an open breaker.`
      : undefined;
  },
};

/** `from`: a slow start counts only if none was accepted since then. */
type Sighting = { readonly of: string; readonly at: number; readonly from: number };

/** When starts failed or became too slow, or a login or Task Token before them. */
const failuresOf = (service: Service): readonly Sighting[] =>
  service.provider.calls
    .flatMap(({ process, result, of, at, endedAt = service.time.now }) => {
      if (!process.startsWith('start-task')) return [];
      const isSlow = endedAt - at > slowMs;
      if (result !== 'trouble' && !isSlow) return [];
      const seenAt = isSlow ? at + slowMs : endedAt;
      return [{ of, at: seenAt, from: isSlow ? seenAt - slowSinceMs : seenAt }];
    })
    .toSorted((one, other) => one.at - other.at);

const acceptedIn = (service: Service): readonly Sighting[] =>
  startCallsOf(service).flatMap(({ of, result, endedAt = 0 }) =>
    result === 'success' ? [{ of, at: endedAt, from: endedAt }] : [],
  );

const isIn = (service: Service, { caller, group }: Breaker, { of }: Pick<Sighting, 'of'>): boolean => {
  const member = service.memberOf(of);
  return member.caller === caller && (group === undefined || groupOf(member) === group);
};

/** The failures and the accepted starts that concern each breaker. */
const sightingsOf = (service: Service) => {
  const all = { failed: failuresOf(service), accepted: acceptedIn(service) };
  return breakersOf(service).map((breaker) => ({
    breaker,
    failed: all.failed.filter((one) => isIn(service, breaker, one)),
    accepted: all.accepted.filter((one) => isIn(service, breaker, one)),
    /** What the breaker counts: the extractions of a group, or the groups of a caller. */
    keyOf: ({ of }: Sighting) => (breaker.group === undefined ? groupOf(service.memberOf(of)) : of),
  }));
};

const opensInTime: Invariant = {
  name: 'opens-in-time',
  rule: 'The breaker of a group is open as soon as starts of the threshold of its extractions have failed without an accepted one in between, in whichever processes. That of a caller is, once so many of its groups have begun to fail.',
  check: (service) => {
    const late = sightingsOf(service).find(({ breaker, failed: own, accepted, keyOf }) => {
      const periods = periodsOf(service, breaker);
      return own.some(({ at }) => {
        const since = Math.max(0, ...accepted.filter((one) => one.at <= at + writeMs).map((one) => one.at));
        const failing = own.filter((one) => one.from > since + writeMs && one.at <= at);
        const known = new Set(own.filter((one) => one.from <= since + writeMs).map(keyOf));
        const counted = new Set(failing.map(keyOf).filter((key) => !known.has(key)));
        const isEnough = counted.size >= threshold + service.losses;
        return isEnough && !periods.some(({ from, to }) => from <= at + writeMs && to >= at);
      });
    });
    return late && `The breaker of ${nameOf(late.breaker)} is not open although enough failed.`;
  },
};

export const opensForAReason: Invariant = {
  name: 'opens-for-a-reason',
  rule: 'A breaker opens only if starts of the threshold of extractions, or of groups, have failed since the last accepted one that its opener knew of.',
  check: (service) => {
    const groundless = sightingsOf(service).find(({ breaker, failed: own, accepted, keyOf }) =>
      periodsOf(service, breaker).some(({ from }) => {
        // An accepted start of the last seconds may be in no write yet.
        const since = Math.max(0, ...accepted.filter((one) => one.at < from - staleMs).map(({ at }) => at));
        const failed = own.filter((one) => one.at >= since - writeMs && one.at <= from);
        // The accepted start of a process that ended is in no write.
        return new Set(failed.map(keyOf)).size + service.losses < threshold;
      }),
    );
    return groundless && `The breaker of ${nameOf(groundless.breaker)} opens although few have failed.`;
  },
};

const logsInFirst: Invariant = {
  name: 'logs-in-first',
  rule: 'Who has a turn logs in successfully, and then makes one start call.',
  check: (service) => {
    // A process whose turn was written, but not answered, makes its call without knowing of it.
    if (service.losses > 0) return undefined;
    const { calls } = service.provider;
    const hasLoggedIn = ({ process, of, at }: ProviderCall): boolean =>
      calls.some(
        (login) =>
          login.kind === 'login' &&
          login.process === process &&
          login.of === of &&
          login.result === 'success' &&
          login.at <= at &&
          login.at > at - 2 * settings.providerTimeoutMs,
      );
    const wrong = startCallsOf(service).find((call) => isInTurn(service, call) && !hasLoggedIn(call));
    return wrong === undefined ? undefined : `${wrong.process} has a turn and does not log in first.`;
  },
};

const closedByAnAcceptedStart: Invariant = {
  name: 'closed-by-an-accepted-start',
  rule: 'A breaker closes only after a start was accepted: of its group, or of any group of its caller.',
  check: (service) => {
    const groundless = sightingsOf(service).find(({ breaker, accepted }) =>
      periodsOf(service, breaker).some(
        ({ from, to }) =>
          to < service.time.now && !accepted.some((one) => one.at <= to && one.at > from - staleMs),
      ),
    );
    return groundless && `The breaker of ${nameOf(groundless.breaker)} closes without an accepted start.`;
  },
};

const acceptedCloses: Invariant = {
  name: 'accepted-closes',
  rule: 'A breaker is closed as soon as a start of its group or caller is accepted whose process knew that it was open.',
  check: (service) => {
    // A process that ends, or cannot write, leaves the breaker to the next turn.
    if (service.losses > 0) return undefined;
    const accepted = startCallsOf(service).filter(
      (call) =>
        call.result === 'success' &&
        (isInTurn(service, call) || (call.endedAt ?? 0) - call.at > slowMs + writeMs),
    );
    for (const breaker of breakersOf(service)) {
      const periods = periodsOf(service, breaker);
      const late = accepted.find(
        ({ of, endedAt = 0 }) =>
          isIn(service, breaker, { of }) &&
          periods.some(({ from, to }) => from < endedAt - writeMs && to > endedAt + writeMs),
      );
      if (late !== undefined) return `The start of ${late.of} was accepted, and a breaker stays open.`;
    }
    return undefined;
  },
};

/** How many start calls were under way when a breaker opened, those included whose process had an older state. */
const underWay = (service: Service): number => {
  const openings = breakersOf(service).flatMap((breaker) =>
    periodsOf(service, breaker).map(({ from }) => ({ breaker, from })),
  );
  return startCallsOf(service).filter(
    (call) =>
      !isInTurn(service, call) &&
      openings.some(
        ({ breaker, from }) =>
          isIn(service, breaker, call) &&
          (call.endedAt ?? Number.POSITIVE_INFINITY) >= from - writeMs &&
          call.at <= from + staleMs,
      ),
  ).length;
};

export const countsOf = (service: Service) => ({
  unconfirmed: [...service.extractions.values()].filter(({ status }) => status === 'UNCONFIRMED').length,
  openings: breakersOf(service).flatMap((breaker) => periodsOf(service, breaker)).length,
  underWay: underWay(service),
  turns: startCallsOf(service).filter((call) => isInTurn(service, call)).length,
});

/** What is written of breakers in each of so many seconds. A lost race is billed as a write of the existing item. */
export const writesASecondOf = (service: Service, from: number, to: number) => {
  const { breakerWrites, startedAt } = service;
  const written = breakerWrites.filter(
    ({ at }) => at >= startedAt + 1_000 * from && at < startedAt + 1_000 * to,
  );
  const units = written.map(({ before, after }) => {
    const [old, young] = [before, after].map(
      (item) => marshall(item ?? {}, { removeUndefinedValues: true }) as unknown as Item,
    );
    return writeUnits(old, young);
  });
  const mean = (total: number): number => Math.round(total / (to - from));
  return {
    writes: mean(written.length),
    lost: mean(written.filter(({ before, after }) => before === after).length),
    units: mean(units.reduce((sum, one) => sum + one, 0)),
  };
};

const unconfirmedBounded: Invariant = {
  name: 'unconfirmed-bounded',
  rule: 'UNCONFIRMED in an outage in which no start is accepted is at most the threshold for each opening, plus the starts under way when a breaker opened, plus one for each turn.',
  check: (service) => {
    // Failures that are both rare and between accepted starts open nothing.
    const isPartial = service.population.outages.some(({ trouble }) =>
      ['fails one call in ten', 'flaps'].includes(trouble),
    );
    if (isPartial) return undefined;
    const { unconfirmed, openings, underWay: calls, turns } = countsOf(service);
    // Of up to five groups, each may be one short of opening when the breaker of their caller opens.
    const groups = new Set(service.population.members.map(groupOf)).size;
    const max = threshold * (openings + Math.min(threshold, groups)) + calls + turns + service.losses;
    return unconfirmed <= max ? undefined : `${unconfirmed} are UNCONFIRMED, more than ${max}.`;
  },
};

/** How many turns were never reported, because the process of the holder had ended or could not write. */
const deadTurnsIn = ({ changes, time }: Service): number => {
  const taken = new Map<string, number>();
  let dead = 0;
  const endOf = (holder: string, at: number): void => {
    if (at - (taken.get(holder) ?? at) >= breakerSettings.turnSeconds * 1_000) dead += 1;
    taken.delete(holder);
  };
  for (const { at, after } of changes) {
    const holders = new Set(turnsIn(after).flatMap(({ holder }) => holder ?? []));
    for (const holder of [...taken.keys()]) if (!holders.has(holder)) endOf(holder, at);
    for (const holder of holders) if (!taken.has(holder)) taken.set(holder, at);
  }
  for (const holder of [...taken.keys()]) endOf(holder, time.now);
  return dead;
};

const recovers: Invariant = {
  name: 'recovers',
  rule: 'After the outage, everything starts that is still within its start window, without the time in line.',
  check: (service) => {
    // The last request was made a minute after the outage, and has 15 minutes for the longest pause and one dead turn.
    const { outages } = service.population;
    const until = service.startedAt + 1_000 * ((outages[0]?.to ?? 0) + 60 + settings.startWindowSeconds);
    const held = [...service.extractions.values()].filter(
      ({ status, startedAt }) =>
        status === 'NOT_STARTED' || (startedAt !== undefined && Date.parse(startedAt) > until),
    );
    return held.length === 0 || deadTurnsIn(service) > 1
      ? undefined
      : `${held.length} extractions started late or never.`;
  },
};

/** Every invariant of an outage. A finding names the first that is broken, so the more exact ones come first. */
export const breakerInvariants: readonly Invariant[] = [
  logsInFirst,
  heldCallsNotMade,
  acceptedCloses,
  opensForAReason,
  unconfirmedBounded,
  closedByAnAcceptedStart,
  opensInTime,
  recovers,
];
