import { readFile } from 'node:fs/promises';
import type { Invocation } from './lambda-report-lines.ts';
import { prices } from './prices.ts';

/** What Step Functions and Lambda bill for one extraction on the happy path. */
type BilledWork = Readonly<Record<'transitions' | 'invocations' | 'gigabyteSeconds', number>>;

/**
 * What `npm run cost` measures on an emulator, with durations that it calculates, and the dollars that the rest of the bill adds per
 * million: the column of the happy path in docs/performance.md.
 */
export const readEstimate = async (): Promise<BilledWork & { readonly rest: number }> => {
  const page = await readFile(new URL('../../../docs/performance.md', import.meta.url), 'utf8');
  const happy = (row: string): number =>
    Number(new RegExp(`^\\| ${row} +\\| +([\\d.]+) \\|`, 'm').exec(page)?.[1]);
  const billed = ['Step Functions', 'Lambda, requests', 'Lambda, duration', 'Lambda, cold starts'].map(happy);
  return {
    transitions: happy('state transitions'),
    invocations: happy('invocations'),
    gigabyteSeconds: happy('GB-seconds, arm64'),
    rest: happy('total') - sum(billed),
  };
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

export const measuredCost = (
  invocations: readonly Invocation[],
  transitions: readonly number[],
  extractions: number,
): BilledWork => ({
  transitions: sum(transitions) / extractions,
  invocations: invocations.length / extractions,
  gigabyteSeconds:
    sum(invocations.map(({ billedMs, memoryMB }) => (billedMs / 1_000) * (memoryMB / 1_024))) / extractions,
});

/** Dollars for a million extractions. */
export const dollarsOf = ({ transitions, invocations, gigabyteSeconds }: BilledWork): number =>
  transitions * prices.transition.perMillion +
  invocations * prices.invocation.perMillion +
  gigabyteSeconds * prices.armGigabyteSecond.perMillion;

const describeWork = (work: BilledWork): string =>
  `$${dollarsOf(work).toFixed(2)} (${work.transitions.toFixed(1)} transitions, ${work.invocations.toFixed(1)} invocations, ${work.gigabyteSeconds.toFixed(2)} GB-seconds each)`;

export const compareCostWithEstimate = (
  measured: BilledWork,
  estimate: BilledWork & { readonly rest: number },
): string =>
  [
    `Lambda and Step Functions bill ${describeWork(measured)} for a million extractions;`,
    `npm run cost estimates ${describeWork(estimate)}.`,
    `With the rest of the estimate, $${estimate.rest.toFixed(2)}, a million costs $${(dollarsOf(measured) + estimate.rest).toFixed(2)}.`,
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
