import { describe, expect, it } from 'vitest';
import { billedMs, waitedMs } from '../../../bench/cost/bill/billed-duration.ts';

const wait = (startedAt: number, endedAt: number, assumedMs: number) => ({ startedAt, endedAt, assumedMs });

describe('what is waited for', () => {
  it('adds up where one wait follows the other', () => {
    expect(waitedMs([wait(0, 2, 10), wait(2, 3, 400), wait(5, 6, 10)])).toBe(420);
  });

  it('is the longest of those that overlap', () => {
    expect(waitedMs([wait(3, 9, 10), wait(0, 4, 400), wait(1, 2, 10)])).toBe(400);
  });

  it('is nothing without a wait', () => expect(waitedMs([])).toBe(0));
});

describe('what Lambda bills of an invocation', () => {
  it('is its CPU time, longer by as much as the function has less than a vCPU, and its waits', () => {
    expect(billedMs(10, 1_769, 0)).toBe(10);
    // 10 × 1,769 / 512 = 34.55
    expect(billedMs(10, 512, 0)).toBe(35);
    expect(billedMs(10, 512, 410)).toBe(445);
  });

  it('is no shorter for having more than a vCPU', () => expect(billedMs(10, 3_538, 0)).toBe(10));
});
