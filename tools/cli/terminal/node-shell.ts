import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { styleText } from 'node:util';
import yoctoSpinner from 'yocto-spinner';
import type { Shell } from './command-environment.ts';
import { checkTypedText, decodeText } from './decode-text.ts';
import { CliError, codeOf } from './errors.ts';
import { type Lines, printable, printableJson, printableLines } from './printable.ts';
import { writePrivately } from './private-files.ts';
import { stopOnSignals } from './stop-on-signals.ts';

/**
 * What is typed at a terminal until Ctrl-D, or until so many lines are, without echo, as it may be a password. Ctrl-C interrupts the
 * process.
 */
export const readHidden = async (
  terminal: NodeJS.ReadableStream,
  maxLines = Number.POSITIVE_INFINITY,
): Promise<string> => {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: terminal, output: nowhere, terminal: true, historySize: 0 });
  // The reader has put the terminal into raw mode, where Ctrl-C is a character and no signal.
  reader.on('SIGINT', () => {
    reader.close();
    process.kill(process.pid, 'SIGINT');
  });
  const lines: string[] = [];
  for await (const line of reader) {
    lines.push(`${line}\n`);
    if (lines.length === maxLines) break;
  }
  reader.close();
  return lines.join('');
};

/** Nobody types so soon. What arrives within it was typed, or pasted, before the prompt. */
const typeAheadMs = 100;

const signColours = { '✓': 'green', '✗': 'red' } as const;

/** Colours the sign at the start of a line, or after the time that starts it, if the stream is a terminal and NO_COLOR is not set. */
const withColour = (text: string, stream: NodeJS.WriteStream): string =>
  text.replace(/(?<=^|^[\d:.]+Z {2})[✓✗]/gmu, (sign) =>
    styleText(signColours[sign as keyof typeof signColours], sign, { stream }),
  );

export const nodeShell = ({ json }: { readonly json: boolean }): Shell => {
  const { stdin, stdout, stderr } = process;
  let handlesSignals = false;
  let spinner: ReturnType<typeof yoctoSpinner> | undefined;
  const write = (stream: NodeJS.WriteStream, lines: Lines, facts?: Readonly<Record<string, unknown>>) => {
    if (json && facts !== undefined) stream.write(printableJson(facts));
    else stream.write(withColour(printableLines(lines), stream));
  };
  return {
    print: (lines, facts) => write(stdout, lines, facts),
    hint: (lines) => {
      if (!json) write(stderr, lines);
    },
    fail: (lines, facts) => write(stderr, lines, { error: lines.join('\n'), ...facts }),
    wait: (line) => {
      if (line === undefined) return void spinner?.stop();
      if (!stdout.isTTY || json) return;
      // It removes itself while anything else is written to the stream.
      spinner ??= yoctoSpinner({ stream: stdout, handleSignals: !handlesSignals });
      spinner.start().text = printable(line);
    },
    confirm: async (question, words) => {
      if (!stdin.isTTY) return false;
      const prompt = createInterface({ input: stdin, output: stderr });
      const typed = await prompt.question(`${printable(question)} `);
      prompt.close();
      return typed.trim() === words;
    },
    readText: async (path, what) => {
      if (path !== '-') {
        const bytes = await readFile(path).catch((cause: unknown) => {
          throw new CliError(
            codeOf(cause) === 'ENOENT'
              ? `There is no file ${path}. Name one that exists, or - for standard input.`
              : `${path} could not be read: ${String(codeOf(cause))}. Check that it is a file that you may read.`,
            { cause },
          );
        });
        return decodeText(bytes, path);
      }
      if (!stdin.isTTY) return decodeText(await buffer(stdin), 'The standard input');
      stderr.write(`Type ${what}. What you type is not shown. End with Enter and Ctrl-D.\n`);
      return checkTypedText(await readHidden(stdin));
    },
    readSecret: async (what) => {
      const withoutBreak = (text: string): string => text.replace(/\r?\n$/, '');
      if (!stdin.isTTY) return withoutBreak(decodeText(await buffer(stdin), 'The standard input'));
      stdin.setRawMode(true);
      stdin.resume();
      const drop = (): void => {};
      stdin.on('data', drop);
      await delay(typeAheadMs);
      stdin.pause();
      stdin.off('data', drop);
      stderr.write(`Type ${what}, which is not shown, and Enter: `);
      const typed = await readHidden(stdin, 1);
      stderr.write('\n');
      return withoutBreak(checkTypedText(typed));
    },
    writePrivately: async (path, bytes) => {
      if (path !== '-') return await writePrivately(path, bytes);
      const shown = stdout.isTTY ? printableLines(Buffer.from(bytes).toString().split('\n')) : bytes;
      await new Promise<void>((resolve, reject) => {
        stdout.write(shown, (error) => (error ? reject(error) : resolve()));
      });
    },
    columns: stdout.isTTY ? stdout.columns : undefined,
    now: () => new Date(),
    sleep: (milliseconds, signal) =>
      delay(milliseconds, undefined, { signal }).catch((error: unknown) => {
        if (signal?.aborted !== true) throw error;
      }),
    interrupted: () => {
      handlesSignals = true;
      // One that handles signals itself would end the process at the first.
      spinner?.stop();
      spinner = undefined;
      return stopOnSignals();
    },
    randomId: randomUUID,
  };
};
