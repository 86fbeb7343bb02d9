import type { SourcePatch } from '../../support/patch-source.ts';

/** A mistake that somebody could make in the product: a patch of one of its sources. */
export type DeliberateFault = SourcePatch & {
  /** What the code does wrong then. */
  readonly does: string;
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
