import { vi } from 'vitest';
import { waitMs } from '../windows.ts';

/** Waits for what nothing announces, such as a row of a table without a stream: asserts until the assertion holds. */
export const eventually = <T>(assertion: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(assertion, { timeout: waitMs, interval: 200 });
