import { setTimeout as delay } from 'node:timers/promises';
import { waitMs } from '../e2e/time-limits.ts';

/** Repeats an assertion until it holds. For state without an event, such as a record of a table without a stream. */
export const eventually = async <T>(assertion: () => T | Promise<T>): Promise<T> => {
  for (const deadline = Date.now() + waitMs; ; await delay(200)) {
    try {
      return await assertion();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
};
