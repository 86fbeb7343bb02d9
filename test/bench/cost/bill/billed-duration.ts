import { awsAnswerMs, providerAnswerMs } from '../../assumptions.ts';
import type { Call } from '../../ledger/entry.ts';

/** "At 1,769 MB, a function has the equivalent of one vCPU". Less memory has less CPU, and one thread uses one vCPU at most. */
const MB_OF_A_VCPU = 1_769;

/** How long an invocation waits for its calls on AWS. Of simultaneous calls only the longest counts. */
const waitedMs = (calls: readonly Call[]): number => {
  let total = 0;
  let end = Number.NEGATIVE_INFINITY;
  let longest = 0;
  for (const { service, startedAt, endedAt } of calls.toSorted((a, b) => a.startedAt - b.startedAt)) {
    if (startedAt >= end) {
      total += longest;
      longest = 0;
    }
    longest = Math.max(longest, service === 'provider' ? providerAnswerMs : awsAnswerMs);
    end = Math.max(end, endedAt);
  }
  return total + longest;
};

/**
 * The billed duration of an invocation in whole milliseconds: the waits for its calls, and its CPU time, which is longer with
 * less than one vCPU.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
 */
export const billedMs = (calls: readonly Call[], cpuMs: number, memoryMB: number): number =>
  Math.ceil((cpuMs * MB_OF_A_VCPU) / Math.min(memoryMB, MB_OF_A_VCPU) + waitedMs(calls));
