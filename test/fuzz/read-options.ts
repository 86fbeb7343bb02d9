import { parseArgs } from 'node:util';

export type Options = {
  /** In all; each property gets its share. */
  readonly cases: number;
  /** Rounds of that many cases until this is over; 0 for one round. */
  readonly minutes: number;
  readonly seed: number;
  /** Of one failure, with `only`. */
  readonly path: string | undefined;
  /** Part of the names of the properties to be tried. */
  readonly only: string | undefined;
};

export const usage = `Usage: npm run fuzz [-- --cases N] [-- --minutes N] [-- --only NAME] [-- --seed S [--path P]]

  --cases N    in all; each property gets its share, and the webhook at least two thirds. Default 150000
  --minutes N  rounds of that many cases, each with another seed, until N minutes are over
  --only NAME  only the properties whose name contains NAME
  --seed S     of the first round; a random one where it is left out, and it is printed
  --path P     with --only and --seed: only the failing case of that path`;

/** Options that cannot be used, in a sentence for the person who typed them. */
export class UnusableOptions extends Error {
  override readonly name = 'UnusableOptions';
}

const flags = {
  cases: { type: 'string' },
  minutes: { type: 'string' },
  seed: { type: 'string' },
  path: { type: 'string' },
  only: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

const parse = (args: readonly string[]) => {
  try {
    return parseArgs({ args: [...args], options: flags }).values;
  } catch (error) {
    throw new UnusableOptions(error instanceof Error ? error.message : String(error), { cause: error });
  }
};

const numberOf = (name: string, text: string | undefined, otherwise: number, least: number): number => {
  const value = text === undefined ? otherwise : Number(text);
  if (!Number.isFinite(value) || value < least)
    throw new UnusableOptions(`--${name} wants a number from ${least}.`);
  return value;
};

/** @throws UnusableOptions */
export const readOptions = (args: readonly string[]): Options | 'help' => {
  const { help, path, only, ...given } = parse(args);
  if (help === true) return 'help';
  if (path !== undefined && (only === undefined || given.seed === undefined)) {
    throw new UnusableOptions('--path is of one property and one seed: give --only and --seed too.');
  }
  return {
    cases: Math.floor(numberOf('cases', given.cases, 150_000, 1)),
    minutes: numberOf('minutes', given.minutes, 0, 0),
    // fast-check's seeds are 32-bit integers.
    seed: Math.trunc(numberOf('seed', given.seed, Math.floor(Math.random() * 2 ** 31), -(2 ** 31))),
    path,
    only,
  };
};
