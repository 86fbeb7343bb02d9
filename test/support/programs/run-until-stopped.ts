import { CliError } from '../../../tools/cli/terminal/errors.ts';
import { stopOnSignals } from '../../../tools/cli/terminal/stop-on-signals.ts';

/** What a long run gets. */
export type StoppableRun = {
  /** Aborts at Ctrl-C. */
  readonly stop: AbortSignal;
  /** Rejects at Ctrl-C, for work that does not end by itself then. */
  readonly untilStopped: <T>(part: Promise<T>) => Promise<T>;
  /** Registers a cleanup for the end, also after Ctrl-C. The last one runs first. */
  readonly atEnd: (cleanup: () => Promise<unknown>) => void;
};

/**
 * Runs until the work or Ctrl-C ends it. Then it runs the cleanups, and ends this process, which open keep-alive connections
 * would keep running.
 */
export const runUntilStopped = async (work: (run: StoppableRun) => Promise<void>): Promise<never> => {
  const stop = stopOnSignals();
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  stopped.catch(() => undefined);
  stop.addEventListener('abort', () => reject(stop.reason), { once: true });
  const cleanups: (() => Promise<unknown>)[] = [];
  const code = await work({
    stop,
    untilStopped: (part) => Promise.race([part, stopped]),
    atEnd: (cleanup) => cleanups.push(cleanup),
  })
    .then(() => 0)
    .catch((error: unknown) => {
      // Errors after Ctrl-C are its consequence.
      if (stop.aborted) return 130;
      console.error(error instanceof CliError ? `\n${error.message}\n` : error);
      return 1;
    });
  for (const cleanup of cleanups.reverse()) await cleanup();
  return process.exit(code);
};
