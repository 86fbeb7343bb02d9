import type { Ran } from '../run-world.ts';
import type { Schedule } from '../scheduler/schedule.ts';

/** A broken invariant, and the schedule that breaks it. */
export type Finding = {
  /** The name of a scenario, or `seed-N`. */
  readonly scenario: string;
  readonly schedule: Schedule;
  readonly invariant: string;
  readonly what: string;
};

type Counts = Record<string, number>;

/** The results of many schedules, as plain data that workers can post. */
export type Tally = {
  schedules: number;
  steps: number;
  maxSteps: number;
  /** How often each outcome was final. */
  outcomes: Counts;
  /** How often each distinguishable end was reached. */
  ends: Counts;
  /** How often each transition was made. */
  transitions: Counts;
  /** How often each departure occurred. */
  departures: Counts;
  /** How often the premise of each invariant occurred. */
  premises: Counts;
  findings: Finding[];
};

export const newTally = (): Tally => ({
  schedules: 0,
  steps: 0,
  maxSteps: 0,
  outcomes: {},
  ends: {},
  transitions: {},
  departures: {},
  premises: {},
  findings: [],
});

const count = (counts: Counts, name: string, by = 1): void => {
  counts[name] = (counts[name] ?? 0) + by;
};

/** Everything in which two ends can differ, as text. */
const endOf = ({ world }: Ran): string => {
  const { record, execution, provider } = world;
  const collected =
    record?.collectedAt !== undefined ? 'collected' : (record?.collectionError ?? 'not collected');
  return [
    record?.status ?? 'never recorded',
    record?.reason ?? '–',
    record?.settledBy ?? '–',
    collected,
    execution?.status ?? 'no execution',
    execution?.redrives ?? 0,
    `${provider.startCalls.length} start calls`,
    `${world.acknowledged.size} acknowledged`,
    [...world.counted.keys()].sort().join(' '),
  ].join(' | ');
};

export const tallyRun = (tally: Tally, ran: Ran): void => {
  tally.schedules += 1;
  tally.steps += ran.steps;
  tally.maxSteps = Math.max(tally.maxSteps, ran.steps);
  count(tally.outcomes, ran.world.record?.status ?? 'never recorded');
  count(tally.ends, endOf(ran));
  for (const transition of ran.world.transitions) count(tally.transitions, transition);
};

export const listenFor = (tally: Tally) => ({
  premise: (invariant: string): void => count(tally.premises, invariant),
  counted: (what: string): void => count(tally.departures, what),
});

export const mergeTally = (into: Tally, from: Tally): void => {
  into.schedules += from.schedules;
  into.steps += from.steps;
  into.maxSteps = Math.max(into.maxSteps, from.maxSteps);
  for (const kind of ['outcomes', 'ends', 'transitions', 'departures', 'premises'] as const) {
    for (const [name, by] of Object.entries(from[kind])) count(into[kind], name, by);
  }
  into.findings.push(...from.findings);
};
