import { InvalidArgumentError } from 'commander';

/** Parses a number of a command line for commander, which refuses one that is not right: `must be a ${what}`. */
export const numberThat =
  (isRight: (number: number) => boolean, what: string) =>
  (text: string): number => {
    if (!isRight(Number(text))) throw new InvalidArgumentError(`must be a ${what}`);
    return Number(text);
  };
