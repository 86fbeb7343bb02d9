/** "At 1,769 MB, a function has the equivalent of one vCPU". Less memory has less CPU, and one thread uses one vCPU at most. */
const MB_OF_A_VCPU = 1_769;

/** The start and end of a wait, and its assumed duration on AWS. */
export type Wait = { readonly startedAt: number; readonly endedAt: number; readonly assumedMs: number };

/** The sum of consecutive waits. Of overlapping ones only the longest counts. */
export const waitedMs = (waits: readonly Wait[]): number => {
  let total = 0;
  let end = Number.NEGATIVE_INFINITY;
  let longest = 0;
  for (const wait of [...waits].sort((one, other) => one.startedAt - other.startedAt)) {
    if (wait.startedAt >= end) {
      total += longest;
      longest = 0;
    }
    longest = Math.max(longest, wait.assumedMs);
    end = Math.max(end, wait.endedAt);
  }
  return total + longest;
};

/**
 * The billed duration of an invocation in whole milliseconds: its waits and its CPU time, which is longer with less than
 * one vCPU.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
 */
export const billedMs = (cpuMs: number, memoryMB: number, waitMs: number): number =>
  Math.ceil((cpuMs * MB_OF_A_VCPU) / Math.min(memoryMB, MB_OF_A_VCPU) + waitMs);
