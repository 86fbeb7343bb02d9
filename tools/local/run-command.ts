import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { stripVTControlCharacters } from 'node:util';

type Options = {
  env: Record<string, string | undefined>;
  cwd: string;
  logFile?: string;
  signal?: AbortSignal;
};

const outputKeptCharacters = 64 * 1024;

/**
 * Runs a command and waits for its end. Returns its exit code, which is 1 for a signal, and the last 64 KiB of its stdout and stderr,
 * in the order of arrival.
 *
 * @throws the system's error (`code: 'ENOENT'`, …) if the command cannot be started; `AbortError` when aborted
 */
export const runCommand = async (command: string, args: string[], options: Options) => {
  const { env, cwd, logFile, signal } = options;
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

/** The last lines of an output or a log, without colours and blank lines, indented by two spaces. */
export const tail = (output: string, lines: number): string => {
  return stripVTControlCharacters(output)
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .slice(-lines)
    .map((line) => `  ${line}`)
    .join('\n');
};
