import { prices } from './prices.ts';
import type { Invocation } from './report-lines.ts';

/** What Step Functions and Lambda bill for one extraction on the happy path. */
export type BilledWork = {
  readonly transitions: number;
  readonly invocations: number;
  readonly gigabyteSeconds: number;
};

/**
 * What `npm run cost` measures on an emulator, with durations that it calculates. docs/performance.md has the table, and a
 * test compares both.
 */
export const estimatedWork: BilledWork = { transitions: 1, invocations: 5, gigabyteSeconds: 0.36 };

/** Dollars that the rest of the bill adds per million: API requests, tables, keys, results, secrets and logs. */
export const estimatedRest = 29.02;

export const measuredCost = (
  invocations: readonly Invocation[],
  transitions: readonly number[],
  extractions: number,
): BilledWork => {
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return {
    transitions: sum(transitions) / extractions,
    invocations: invocations.length / extractions,
    gigabyteSeconds:
      sum(invocations.map(({ billedMs, memoryMB }) => (billedMs / 1_000) * (memoryMB / 1_024))) / extractions,
  };
};

/** Dollars for a million extractions. */
export const dollarsOf = ({ transitions, invocations, gigabyteSeconds }: BilledWork): number =>
  transitions * prices.transition.perMillion +
  invocations * prices.invocation.perMillion +
  gigabyteSeconds * prices.armGigabyteSecond.perMillion;

const describeWork = (work: BilledWork): string =>
  `$${dollarsOf(work).toFixed(2)} (${work.transitions.toFixed(1)} transitions, ${work.invocations.toFixed(1)} invocations, ${work.gigabyteSeconds.toFixed(2)} GB-seconds each)`;

export const describeCost = (measured: BilledWork): string =>
  [
    `Lambda and Step Functions bill ${describeWork(measured)} for a million extractions;`,
    `npm run cost estimates ${describeWork(estimatedWork)}.`,
    `With the rest of the estimate, $${estimatedRest.toFixed(2)}, a million costs $${(dollarsOf(measured) + estimatedRest).toFixed(2)}.`,
  ].join(' ');

/** Whether Step Functions counts Start and End as transitions, two for each execution, by what it consumed for one extraction. */
export const describeStartAndEnd = (consumed: number, inHistory: number): string => {
  const edges = consumed - inHistory;
  const verdict =
    Math.abs(edges - 2) < 0.5
      ? 'so Start and End count'
      : Math.abs(edges) < 0.5
        ? 'so Start and End do not count'
        : 'which other executions of the account may have added to, so it is open whether Start and End count';
  return `Step Functions itself counted ${consumed.toFixed(1)} transitions each, where the histories have ${inHistory.toFixed(1)}, ${verdict}.`;
};
