/** A mistake that somebody could make in the product: a patch of one of its sources. */
export type DeliberateFault = {
  readonly name: string;
  /** What the code does wrong then. */
  readonly does: string;
  /** From the root of the repository. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The invariant that it breaks first. */
  readonly caughtBy: string;
  /** Where it takes two departures to see it, of different kinds: in which scenarios. By itself one is enough. */
  readonly pairsOf?: readonly string[];
};
