import { vi } from 'vitest';
import { waitMs } from '../time-limits.ts';

/** Repeats an assertion until it holds. For state without an event, such as a record of a table without a stream. */
export const eventually = <T>(assertion: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(assertion, { timeout: waitMs, interval: 200 });
