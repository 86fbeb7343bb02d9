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

/** Longer than a process trusts the state of a breaker that it has read, and than a start may take before it counts. */
const lateMs = 6_000;

/**
 * Everything as usual, but for some steps: those take six seconds longer, or are retried without a pause, or happen in
 * another process. `steps` counts them all.
 */
export const deviatingChoices = (
  deviations: readonly number[],
): Choices & { readonly steps: () => number } => {
  let steps = 0;
  const deviates = (): boolean => {
    steps += 1;
    return deviations.includes(steps);
  };
  return {
    steps: () => steps,
    choose: (_of, among) => (among > 1 && deviates() ? among - 1 : 0),
    milliseconds: (_of, usual, unusual) => {
      if (!deviates()) return usual;
      return unusual < usual ? unusual : unusual + lateMs;
    },
  };
};
