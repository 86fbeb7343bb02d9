import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { styleText } from 'node:util';
import yoctoSpinner from 'yocto-spinner';
import { CliError } from './errors.ts';
import { type Lines, printable, printableJson, printableLines } from './printable.ts';
import { readHidden } from './read-hidden.ts';
import type { Shell } from './shell.ts';
import { stopOnSignals } from './stop-on-signals.ts';

const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code;

const signColours = { '✓': 'green', '✗': 'red' } as const;

/** Colours the sign of a check at the start of a line, if the stream is a terminal and NO_COLOR is not set. */
const withColour = (text: string, stream: NodeJS.WriteStream): string =>
  text.replace(/^[✓✗]/gmu, (sign) =>
    styleText(signColours[sign as keyof typeof signColours], sign, { stream }),
  );

/** The shell of this process. */
export const nodeShell = ({ json }: { readonly json: boolean }): Shell => {
  const { stdin, stdout, stderr } = process;
  // A reader such as `head` closes the pipe once it has enough. That is no failure.
  stdout.on('error', (error) => {
    if (codeOf(error) !== 'EPIPE') throw error;
    process.exit(0);
  });
  let handlesSignals = false;
  let spinner: ReturnType<typeof yoctoSpinner> | undefined;
  const write = (
    stream: NodeJS.WriteStream,
    lines: Lines,
    facts?: Readonly<Record<string, unknown>>,
  ): void => {
    stream.write(
      json && facts !== undefined ? printableJson(facts) : withColour(printableLines(lines), stream),
    );
  };
  return {
    print: (lines, facts) => write(stdout, lines, facts),
    hint: (lines) => {
      if (!json) write(stderr, lines);
    },
    fail: (lines) => write(stderr, lines, { error: lines.join('\n') }),
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
    readText: async (path) => {
      if (path !== '-') {
        return readFile(path, 'utf8').catch((cause: unknown) => {
          throw new CliError(`${path} could not be read: ${String(codeOf(cause))}.`, { cause });
        });
      }
      if (!stdin.isTTY) return text(stdin);
      stderr.write('Type the text, which is not echoed. End with Enter and Ctrl-D.\n');
      return readHidden(stdin);
    },
    writePrivately: async (path, bytes) => {
      // `wx` fails where there is a file, as it may be somebody's.
      await writeFile(path, bytes, { mode: 0o600, flag: 'wx' }).catch((cause: unknown) => {
        const reason = codeOf(cause) === 'EEXIST' ? 'the file exists' : String(codeOf(cause));
        throw new CliError(`${path} could not be written: ${reason}.`, { cause });
      });
    },
    now: () => new Date(),
    sleep: (milliseconds, signal) =>
      delay(milliseconds, undefined, { signal }).catch((error: unknown) => {
        if (signal?.aborted !== true) throw error;
      }),
    interrupted: () => {
      handlesSignals = true;
      return stopOnSignals();
    },
    randomId: randomUUID,
  };
};
