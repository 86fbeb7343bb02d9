type Waiter = {
  readonly time: number;
  readonly resume: () => void;
};

// setTimeout fires at once for delays over 2^31 - 1 ms. A timer that fires early only sets the next one.
const maxTimeout = 2 ** 31 - 1;

/**
 * The sandbox's time: the base clock plus the advances of the control interface. Everything that the sandbox does later
 * (the end of a task, a delivery) waits for this clock, so that advancing it makes them due.
 */
export const createClock = (base: () => number) => {
  const waiters = new Set<Waiter>();
  let advanced = 0;
  let timer: NodeJS.Timeout | undefined;

  const now = () => base() + advanced;

  const setTimer = () => {
    clearTimeout(timer);
    if (waiters.size === 0) return;
    const next = Math.min(...[...waiters].map((waiter) => waiter.time));
    timer = setTimeout(resumeDue, Math.min(Math.max(0, next - now()), maxTimeout));
  };

  const resumeDue = () => {
    const due = [...waiters].filter((waiter) => waiter.time <= now()).sort((a, b) => a.time - b.time);
    for (const waiter of due) {
      waiters.delete(waiter);
      waiter.resume();
    }
    setTimer();
  };

  return {
    /** Milliseconds since the epoch. */
    now,
    advance(milliseconds: number): void {
      advanced += milliseconds;
      resumeDue();
    },
    /** Resolves to `due` at `time` (ms since the epoch), or to `cancelled` if the signal aborts first. */
    until(time: number, signal: AbortSignal): Promise<'due' | 'cancelled'> {
      if (signal.aborted) return Promise.resolve('cancelled');
      if (time <= now()) return Promise.resolve('due');
      return new Promise((resolve) => {
        const cancel = () => {
          waiters.delete(waiter);
          setTimer();
          resolve('cancelled');
        };
        const waiter: Waiter = {
          time,
          resume: () => {
            signal.removeEventListener('abort', cancel);
            resolve('due');
          },
        };
        waiters.add(waiter);
        signal.addEventListener('abort', cancel, { once: true });
        setTimer();
      });
    },
  };
};
export type SandboxClock = ReturnType<typeof createClock>;
