import type { Lines } from './printable.ts';

/** An expected failure. Its lines name the cause and the remedy, and are printed without a stack. Exit code 1. */
export class CliError extends Error {
  override readonly name: string = 'CliError';
  readonly lines: readonly string[];
  /** What --json prints beside the lines. */
  readonly facts: Readonly<Record<string, unknown>> | undefined;

  constructor(lines: Lines, options?: ErrorOptions & { readonly facts?: Readonly<Record<string, unknown>> }) {
    const all = typeof lines === 'string' ? [lines] : lines;
    super(all.join('\n'), options);
    this.lines = all;
    this.facts = options?.facts;
  }
}

/** The command line is wrong. Exit code 2. */
export class UsageError extends CliError {
  override readonly name = 'UsageError';
}

/** Of an error of Node or the network, such as `ENOENT`. */
export const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown } | undefined)?.code;

/**
 * The exit codes of `cosecha` (docs/cli.md). An outcome other than COMPLETED has its own, so that a script does not take
 * it for a failure of the command.
 */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  otherOutcome: 3,
  timedOut: 4,
  /** As a shell reports a process that Ctrl-C has ended: 128 + SIGINT. */
  interrupted: 130,
} as const;
