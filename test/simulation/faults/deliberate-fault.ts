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
  /** Where to look for it, and how far to depart. By itself everywhere, with one departure, and then at random. */
  readonly where?: {
    readonly scenario: string;
    readonly faults?: number;
    readonly preemptions?: number;
    readonly events?: number;
  };
};
