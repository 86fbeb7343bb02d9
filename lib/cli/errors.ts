import type { Lines } from './printable.ts';

/**
 * Something that can be expected to go wrong. The lines are for the person at the terminal: what is wrong and what
 * to do. Shown without a stack; exit code 1.
 */
export class CliError extends Error {
  override readonly name: string = 'Problem';
  readonly lines: readonly string[];

  constructor(lines: Lines, options?: ErrorOptions) {
    const all = typeof lines === 'string' ? [lines] : lines;
    super(all.join('\n'), options);
    this.lines = all;
  }
}

/** The command line itself is wrong; exit code 2. */
export class UsageError extends CliError {
  override readonly name = 'UsageProblem';
}
