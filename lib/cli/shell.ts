import type { Lines } from './printable.ts';

/**
 * What a command sees of the terminal and the machine it runs on. All that is printed goes through here, which escapes
 * control characters: no command has to know which of its texts are a caller's or the provider's.
 */
export type Shell = {
  /** A result: the lines for people, or with --json the facts as one line of JSON. Standard output. */
  readonly print: (lines: Lines, facts: Readonly<Record<string, unknown>>) => void;
  /** For people only: what is going on, and what to know. Standard error, so that results can be piped. */
  readonly hint: (lines: Lines) => void;
  /** Why the command failed: the lines, or with --json one line of JSON. Standard error. */
  readonly fail: (lines: readonly string[]) => void;
  /** What is waited for; undefined: nothing any more. Shown on a terminal only. */
  readonly wait: (text: string | undefined) => void;
  /** Asks for these very words to be typed; false for any others, and where nobody can be asked. */
  readonly confirm: (question: string, words: string) => Promise<boolean>;
  /** The text of a file, or of standard input for `-`. */
  readonly readText: (path: string) => Promise<string>;
  /** Writes a new file that only its owner may read. */
  readonly writePrivately: (path: string, bytes: Uint8Array) => Promise<void>;
  readonly now: () => Date;
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly randomId: () => string;
};
