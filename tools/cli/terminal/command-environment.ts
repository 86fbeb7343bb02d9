import type { Lines } from './printable.ts';

/**
 * The terminal and the machine that a command runs on. Everything printed passes through it and has its control
 * characters escaped, so no command has to know which of its texts come from a caller or the provider.
 */
export type Shell = {
  /** Prints a result to standard output: the lines, or with --json the facts as one line of JSON. */
  readonly print: (lines: Lines, facts: Readonly<Record<string, unknown>>) => void;
  /** Prints progress and advice to standard error, so that results can be piped. Nothing with --json. */
  readonly hint: (lines: Lines) => void;
  /** Prints why the command failed to standard error: the lines, or with --json one line of JSON, with the facts if there are some. */
  readonly fail: (lines: readonly string[], facts?: Readonly<Record<string, unknown>>) => void;
  /** Shows on a terminal what the command waits for; undefined removes it. */
  readonly wait: (text: string | undefined) => void;
  /** Prompts for exactly these words. False for any others, and without a terminal. */
  readonly confirm: (question: string, words: string) => Promise<boolean>;
  /**
   * The text of a file, or of standard input for `-`. What is typed at a terminal is not echoed. `what` names the text
   * in the prompt, such as `the credentials as JSON`. Throws CliError where it is not UTF-8.
   */
  readonly readText: (path: string, what: string) => Promise<string>;
  /**
   * A line typed at a terminal, without echo, or the whole of standard input without the line break at its end. What was typed before
   * the prompt is dropped: it may be the next line of a pasted block. Throws CliError where it is not UTF-8.
   */
  readonly readSecret: (what: string) => Promise<string>;
  /** How many characters a line of standard output has. Undefined unless it is a terminal. */
  readonly columns: number | undefined;
  /**
   * Writes a new file that only its owner can read, or for `-` to standard output: unchanged, but on a terminal with control
   * characters escaped.
   */
  readonly writePrivately: (path: string, bytes: Uint8Array) => Promise<void>;
  readonly now: () => Date;
  /** Returns early once the signal aborts. */
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  /** Aborts at the first Ctrl-C, which then no longer ends the process. */
  readonly interrupted: () => AbortSignal;
  readonly randomId: () => string;
};
