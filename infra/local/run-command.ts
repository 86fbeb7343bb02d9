import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import { stripVTControlCharacters } from 'node:util';

/** How a command ended. `output` is stdout and stderr as they came, its last `outputKeptCharacters` characters. */
export type CommandResult = { code: number; output: string };

type Options = {
  env: Record<string, string | undefined>;
  cwd: string;
  /** Both streams are appended to it. */
  logFile?: string;
  onLine?: (line: string) => void;
  signal?: AbortSignal;
};

const outputKeptCharacters = 64 * 1024;

/**
 * Runs a command to its end. The result is a value whatever its exit code (a signal counts as 1).
 *
 * @throws the system's error (`code: 'ENOENT'`, …) where the command could not be started, `AbortError` when aborted.
 */
export const runCommand = async (
  command: string,
  args: string[],
  options: Options,
): Promise<CommandResult> => {
  const { env, cwd, logFile, onLine, signal } = options;
  const child = spawn(command, args, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(signal && { signal }),
  });
  const log = logFile === undefined ? undefined : createWriteStream(logFile, { flags: 'a' });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      output = (output + text).slice(-outputKeptCharacters);
      log?.write(text);
    });
    if (onLine) createInterface({ input: stream }).on('line', onLine);
  }
  try {
    const code = await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (exitCode) => resolve(exitCode ?? 1));
    });
    return { code, output };
  } finally {
    if (log) await finished(log.end());
  }
};

/** The last lines of a command's output or of a log, without colours and blank lines, indented under a sentence. */
export const tail = (output: string, lines: number): string => {
  return stripVTControlCharacters(output)
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .slice(-lines)
    .map((line) => `  ${line}`)
    .join('\n');
};
