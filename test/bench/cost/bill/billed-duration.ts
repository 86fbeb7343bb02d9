/** "At 1,769 MB, a function has the equivalent of one vCPU": less has its share of one, one thread uses no more. */
const MB_OF_A_VCPU = 1_769;

/** From the start of a wait to its end, and what it is assumed to last on AWS. */
export type Wait = { readonly startedAt: number; readonly endedAt: number; readonly assumedMs: number };

/** Waits one after the other add up; of those that overlap, the longest counts. */
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
 * What Lambda bills of an invocation, in whole milliseconds: its CPU time, stretched where the function has less than
 * a vCPU, and its waits.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
 */
export const billedMs = (cpuMs: number, memoryMB: number, waitMs: number): number =>
  Math.ceil((cpuMs * MB_OF_A_VCPU) / Math.min(memoryMB, MB_OF_A_VCPU) + waitMs);
