import { CliError } from '../../tools/cli/terminal/errors.ts';
import { stopOnSignals } from '../../tools/cli/terminal/stop-on-signals.ts';

/** What a benchmark gets. */
export type Benchmark = {
  /** Aborts at Ctrl-C. */
  readonly stop: AbortSignal;
  /** Rejects at Ctrl-C, for work that does not end by itself then. */
  readonly untilStopped: <T>(work: Promise<T>) => Promise<T>;
  /** Registers a cleanup for the end, also after Ctrl-C. The last one runs first. */
  readonly atEnd: (cleanup: () => Promise<unknown>) => void;
};

/** Runs a benchmark, and ends this process, which open keep-alive connections would otherwise keep running. */
export const runBenchmark = async (run: (benchmark: Benchmark) => Promise<void>): Promise<never> => {
  const stop = stopOnSignals();
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  stopped.catch(() => undefined);
  stop.addEventListener('abort', () => reject(stop.reason), { once: true });
  const cleanups: (() => Promise<unknown>)[] = [];
  const code = await run({
    stop,
    untilStopped: (work) => Promise.race([work, stopped]),
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
