import { appendFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { LogLine } from './read-function-logs.ts';

/** CloudWatch Logs pushes nothing to a reader without a subscription. */
const pollEveryMs = 1_000;

/**
 * Appends the functions' log lines to a file until `signal` aborts, so that `tail -f` follows them, and calls `onLine` for
 * each. The last read comes after the abort, so the file is complete. A read that fails loses nothing, as the next one
 * returns its lines too.
 */
export const followFunctionLogs = async (
  read: () => Promise<readonly LogLine[]>,
  file: string,
  onLine: (line: LogLine) => void,
  signal: AbortSignal,
): Promise<void> => {
  for (;;) {
    const isLast = signal.aborted;
    const lines = await read().catch(() => []);
    await appendFile(file, lines.map(({ text }) => `${text}\n`).join(''));
    for (const line of lines) onLine(line);
    if (isLast) return;
    await delay(pollEveryMs, undefined, { signal }).catch(() => undefined);
  }
};
