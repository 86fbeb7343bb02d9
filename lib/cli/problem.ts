/**
 * Something that can be expected to go wrong. The message is for the person at the terminal: what is wrong and what
 * to do. Shown without a stack; exit code 1.
 */
export class Problem extends Error {
  override readonly name: string = 'Problem';
}

/** The command line itself is wrong; exit code 2. */
export class UsageProblem extends Problem {
  override readonly name = 'UsageProblem';
}
