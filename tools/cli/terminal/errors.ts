import type { Lines } from './printable.ts';

/** An expected failure. Its lines name the cause and the remedy, and are printed without a stack. Exit code 1. */
export class CliError extends Error {
  override readonly name: string = 'CliError';
  readonly lines: readonly string[];

  constructor(lines: Lines, options?: ErrorOptions) {
    const all = typeof lines === 'string' ? [lines] : lines;
    super(all.join('\n'), options);
    this.lines = all;
  }
}

/** The command line is wrong. Exit code 2. */
export class UsageError extends CliError {
  override readonly name = 'UsageError';
}
