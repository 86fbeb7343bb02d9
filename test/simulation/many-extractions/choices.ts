import { type Random, randomFor } from '../../support/data/random.ts';

/** Everything that is left to chance in a population. `of` is the extraction that it concerns. */
export type Choices = {
  /** One of so many. */
  readonly choose: (of: string, among: number) => number;
  /** The milliseconds of one step, between the usual and the most unusual. */
  readonly milliseconds: (of: string, usual: number, unusual: number) => number;
};

/** Random, by a stream for each extraction, so that one without its neighbours draws the same. */
export const randomChoices = (seed: number): Choices => {
  const streams = new Map<string, Random>();
  const streamOf = (of: string): Random => {
    const known = streams.get(of) ?? randomFor(seed, of);
    streams.set(of, known);
    return known;
  };
  return {
    choose: (of, among) => streamOf(of).below(among),
    milliseconds: (of, usual, unusual) =>
      Math.min(usual, unusual) + streamOf(of).below(Math.abs(unusual - usual) + 1),
  };
};
