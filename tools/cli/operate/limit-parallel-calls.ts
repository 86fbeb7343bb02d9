/** Runs at most `most` calls at once, in the order they are given. The others wait. */
export const limitParallelCalls = (most: number) => {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async <T>(call: () => Promise<T>): Promise<T> => {
    if (running === most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await call();
    } finally {
      // The next waiting call takes the slot, so `running` stays.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
};
